import { isIPv4 } from "node:net";
import { InvalidArgumentError } from "../../errors.ts";
import { checkText, show } from "../../../base/check.ts";

/** The address of an RPC server. */
export interface RpcAddress {
  /** A name or an IPv4 address. */
  readonly host: string;
  /** 1 to 65,535. */
  readonly port: number;
}

/** The port that upstream's server takes when it is given none. */
export const DEFAULT_RPC_PORT = 50052;

/** Reads `host:port`. Upstream knows no IPv6. Throws InvalidArgumentError. */
export function parseEndpoint(endpoint: unknown): RpcAddress {
  const text = checkText("the endpoint", endpoint);
  const [, host, digits] = /^([A-Za-z0-9.-]{1,253}):([0-9]{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535 && (isIPv4(host) || !/^[0-9.]+$/.test(host))) {
    return { host, port };
  }
  throw new InvalidArgumentError(
    `${
      show(text)
    } is not a valid endpoint; give a host's name or IPv4 address and a port, such as 127.0.0.1:${DEFAULT_RPC_PORT}`,
    { value: text, expected: "host:port" },
  );
}

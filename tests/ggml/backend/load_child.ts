// Loads the reference backend, whose switches the environment sets, and says what came of it.
import { Registry } from "../../../lib/ggml/backend/registry.ts";
import { ensureReference } from "../../../scripts/build/reference.ts";

const registry = await Registry.open();
try {
  await registry.load(await ensureReference());
  console.log(JSON.stringify({ code: "none" }));
} catch (error) {
  const { code, message } = error as { code: string; message: string };
  console.log(JSON.stringify({ code, message, after: registry.registrations.map(({ name }) => name) }));
}

/** The buffers that lie on other machines: what asks for their content on the caller's thread waits for the network, and for ever when the server is lost. */
export const remoteBuffers: Set<bigint> = new Set();

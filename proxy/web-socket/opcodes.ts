/** What a frame is (RFC 6455 section 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export type Opcode = (typeof opcodes)[keyof typeof opcodes];

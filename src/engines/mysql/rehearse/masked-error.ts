import { maskValues } from '../../shared/mask-values.ts';

/** The number and the message of an error packet. */
export function maskedError(body: Buffer): { code: string; message: string } {
  const text = body.toString('utf8', 3);
  // `#23000` is the SQLSTATE.
  const message = text.startsWith('#') ? text.slice(6) : text;
  return { code: String(body.readUInt16LE(1)), message: maskValues(message) };
}

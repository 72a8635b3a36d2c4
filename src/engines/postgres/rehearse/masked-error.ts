import { maskValues } from '../../shared/mask-values.ts';

/** Code and message of an error message of the server, whose details have values of rows. */
export function maskedError(body: Buffer): { code: string; message: string } {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field[0], field.slice(1)]),
  );
  const detail = fields.get('D');
  const lines = [fields.get('M') ?? 'unknown error', ...(detail === undefined ? [] : [detail])];
  return { code: fields.get('C') ?? '', message: maskValues(lines.join('\n')) };
}

import { inspect } from 'node:util';
import { redact } from '../../process/redact.ts';
import type { UserError } from '../../runtime/errors.ts';
import { printableLines } from '../../text/printable.ts';
import type { Style } from './style.ts';

/** An error for people: what failed, what the server or the tool said, what to do next. */
export function errorText(error: UserError, { style, debug }: { style: Style; debug: boolean }): string {
  const lines = [
    `${style.paint('bad', 'error:')} ${shown(error.message)}`,
    ...error.details.map((detail) => `    ${shown(detail)}`),
  ];
  if (error.hint) lines.push(`  ${style.paint('accent', 'hint:')} ${shown(error.hint)}`);
  if (debug) lines.push(printableLines(redact(inspect(error))));
  return lines.join('\n');
}

/** Further lines of it are indented: none looks like a line of the program's own, or like another detail. */
function shown(text: string): string {
  return printableLines(redact(text)).replaceAll('\n', '\n      ');
}

/** An error for programs: the fields of the `error` event, and of the document's `error`. */
export function errorData({ code, message, hint, exit, details }: UserError): object {
  return { code, message, hint: hint ?? null, exit, ...(details.length > 0 && { details }) };
}

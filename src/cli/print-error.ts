import type { ExitCode, UserError } from '../runtime/errors.ts';
import type { CommandHost } from './host.ts';
import { errorData, errorText } from './printers/error-text.ts';
import { jsonLine } from './printers/json.ts';
import { createStyle } from './printers/style.ts';

export interface ErrorPrintOptions {
  host: Pick<CommandHost, 'stdout' | 'stderr' | 'terminal'>;
  json: boolean | 'document' | 'events';
  debug: boolean;
}

export function printError(error: UserError, { host, json, debug }: ErrorPrintOptions): ExitCode {
  const { stdout, stderr, terminal } = host;
  const style = createStyle({ color: terminal.stderr.color, unicode: terminal.unicode });
  stderr.write(`${errorText(error, { style, debug })}\n`);
  if (json) {
    const data = errorData(error);
    stdout.write(jsonLine(json === 'events' ? { event: 'error', ...data } : { error: data }));
  }
  return error.exit;
}

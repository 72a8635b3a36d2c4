import { join } from 'node:path';
import { logLine } from '../cli/printers/log.ts';
import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { openProgramLog } from '../runtime/log-file.ts';

const LONGEST = 2000;

/** Writes a line to the log of the program; throws where it cannot be written: no call is without its line. */
export type WriteCallLog = (kind: 'mcp' | 'call' | 'call_ended', text: string) => void;

export function openCallLog({ configuration, clock, hide = (same) => same }: Context): WriteCallLog {
  const path = join(configuration.settings.working_directory, 'logs', 'tool.log');
  let append: ((line: string) => void) | null = null;
  return (kind, text) => {
    try {
      append ??= openProgramLog(configuration.settings.working_directory);
      append(logLine({ clock, kind, text: hide(text).slice(0, LONGEST) }));
    } catch (error) {
      throw new UserError('call_log_not_written', `The log ${path} cannot be written: ${(error as Error).message}`, {
        hint: 'Calls without a log are refused. Check the working_directory, its permissions and the disk.',
        cause: error,
      });
    }
  };
}

import { logFailedText } from '../../presentation/progress.ts';
import { hideKnown, redact } from '../../process/redact.ts';
import type { RunEvent } from '../../results/events.ts';
import type { UserError } from '../../runtime/errors.ts';
import type { Report } from '../../runtime/events.ts';
import { openProgramLog } from '../../runtime/log-file.ts';
import { formatDuration } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

export interface LogFileOptions {
  /** `working_directory`; the log is `logs/tool.log` in it. */
  directory: string;
  /** Every event and SQL statement; otherwise steps, commands and warnings. */
  trace: boolean;
  /** Secrets from `knownSecrets`, which are hidden wherever they stand. */
  secrets?: readonly string[];
  clock: () => Date;
  /** Hears every event too, and that the log cannot be written, once. */
  report: Report;
}

export interface LogFile {
  /** Writes the event, and hands it on. */
  report: Report;
  logFailure: (error: UserError) => void;
}

/** A log of a run, a line an event. Nothing that goes wrong with the log fails the work. */
export function createLogFile({ directory, trace, secrets = [], clock, report }: LogFileOptions): LogFile {
  const startedAt = new Map<string, number>();
  let append: ((line: string) => void) | null = null;
  let gaveUp = false;

  function write(kind: string, text: string): void {
    if (gaveUp) return;
    try {
      append ??= openProgramLog(directory);
      append(logLine({ clock, kind, text, secrets }));
    } catch (error) {
      gaveUp = true;
      const reason = error instanceof Error ? error.message : String(error);
      report({ event: 'warning', code: 'log_not_written', message: logFailedText(reason) });
    }
  }

  function elapsedOf(event: RunEvent): number {
    if (event.event !== 'step') return 0;
    const now = clock().getTime();
    if (event.state === 'started') startedAt.set(event.step, now);
    return now - (startedAt.get(event.step) ?? now);
  }

  return {
    report(event) {
      if (trace || !TRACED.has(event.event)) write(event.event, describe(event, elapsedOf(event)));
      report(event);
    },
    logFailure: ({ code, message, details }) => write('error', [`${code}: ${message}`, ...details].join(' | ')),
  };
}

export interface LogEntry extends Pick<LogFileOptions, 'clock' | 'secrets'> {
  kind: string;
  text: string;
}

/** Time, process, kind and text, without secrets. */
export function logLine({ clock, kind, text, secrets = [] }: LogEntry): string {
  return `${clock().toISOString()} ${process.pid} ${kind} ${oneLine(hideKnown(redact(text), secrets))}`;
}

const TRACED = new Set<RunEvent['event']>(['progress', 'statement']);

function describe(event: RunEvent, elapsed: number): string {
  switch (event.event) {
    case 'step':
      return event.state === 'done'
        ? `${event.step} done after ${formatDuration(elapsed)}: ${event.label}`
        : `${event.step} ${event.state}: ${event.label}`;
    case 'progress':
      return `${event.step} ${event.done}/${event.total ?? '?'} ${event.unit} ${event.current ?? ''}`.trimEnd();
    case 'command':
      return event.command;
    case 'command_ended':
      return `${event.exit ?? 'a signal'} after ${formatDuration(event.duration_ms)}: ${event.command}`;
    case 'statement':
      return `${event.sqlstate ?? 'lost'} after ${formatDuration(event.duration_ms)}: ${event.statement}`;
    // The URL would let who reads the log answer in the person's place.
    case 'sign_in':
      return `with ${event.provider}`;
    // Nor the token that admits to it.
    case 'serving':
      return event.socket ?? event.url ?? '';
    case 'server':
      return event.server;
    case 'warning':
      return `${event.code}: ${event.message}`;
    default:
      return event satisfies never;
  }
}

/** Makes one line of a server's text, which must neither begin a new line nor move the reader's cursor. */
function oneLine(text: string): string {
  return printable(text).replace(/\s+/gu, ' ').trim();
}

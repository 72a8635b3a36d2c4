import { join } from 'node:path';
import { formatDuration } from '../amounts.ts';
import type { Report, RunEvent } from '../events.ts';
import { redact } from '../process/redact.ts';
import { openLogFile } from './log-file.ts';

export interface LogOptions {
  /** `working_directory`; the log is `logs/tool.log` in it. */
  directory: string;
  /** Every event and SQL statement; otherwise steps, commands and warnings. */
  trace: boolean;
  clock: () => Date;
  /** Hears every event too, and that the log cannot be written, once. */
  report: Report;
}

/** A Report that keeps a log besides. Nothing that goes wrong with the log fails the work. */
export function withLog({ directory, trace, clock, report }: LogOptions): Report {
  const path = join(directory, 'logs', 'tool.log');
  const startedAt = new Map<string, number>();
  let append: ((line: string) => void) | null = null;
  let given = false;

  function write(event: RunEvent): void {
    if (given || (!trace && TRACED.has(event.event))) return;
    const now = clock();
    const text = describe(event, elapsedOf(event, now.getTime()));
    try {
      append ??= openLogFile({ path });
      append(`${now.toISOString()} ${process.pid} ${event.event} ${oneLine(redact(text))}`);
    } catch (error) {
      given = true;
      const reason = error instanceof Error ? error.message : String(error);
      report({ event: 'warning', code: 'log_not_written', message: `The log cannot be written: ${reason}` });
    }
  }

  function elapsedOf(event: RunEvent, now: number): number {
    if (event.event !== 'step') return 0;
    if (event.state === 'started') startedAt.set(event.step, now);
    return now - (startedAt.get(event.step) ?? now);
  }

  return (event) => {
    write(event);
    report(event);
  };
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
    case 'warning':
      return `${event.code}: ${event.message}`;
    default:
      return event satisfies never;
  }
}

/** What comes from a server must neither begin a line of its own nor move the cursor of who reads it. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

import { writeSync } from 'node:fs';
import type { TerminalOutput } from './output.ts';

export interface TerminalGuardOptions {
  stdin: NodeJS.ReadStream;
  stdout: TerminalOutput;
  /** Called on an uncaught error, after the terminal is restored. */
  onCrash: (error: unknown) => void;
}

/** Mouse off, out of the alternate screen, cursor on, autowrap on, bracketed paste off, synchronized output off. */
const RESTORE = '\x1b[?1006l\x1b[?1000l\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[?7h\x1b[?2004l';

/** Restores the terminal however the program ends; returns a function that removes the guard. */
export function guardTerminal({ stdin, stdout, onCrash }: TerminalGuardOptions): () => void {
  const restore = () => {
    try {
      if (stdin.isRaw) stdin.setRawMode(false);
      writeSync(stdout.fd, RESTORE);
    } catch {
      // The terminal is gone.
    }
  };
  const crash = (error: unknown) => {
    restore();
    onCrash(error);
  };
  const listeners: [string, (error: unknown) => void][] = [
    ['exit', restore],
    ['uncaughtException', crash],
    ['unhandledRejection', crash],
  ];
  for (const [event, listener] of listeners) process.on(event, listener);
  return () => {
    for (const [event, listener] of listeners) process.off(event, listener);
  };
}

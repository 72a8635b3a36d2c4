import { redact } from '../../process/redact.ts';
import type { RunEvent } from '../../results/events.ts';
import { printableJson } from '../../text/printable.ts';
import type { Printer } from './printer.ts';

export interface JsonOptions {
  write: (text: string) => void;
  /** Reports whether executed commands are printed as well. */
  debug: () => boolean;
}

/** One event a line (NDJSON). The line that ends a run is written by who knows its outcome. */
export function createJsonPrinter({ write, debug }: JsonOptions): Printer {
  return {
    report(event) {
      if (event.event === 'statement' || (isCommand(event) && !debug())) return;
      write(jsonLine(event));
    },
    end() {},
  };
}

function isCommand({ event }: RunEvent): boolean {
  return event === 'command' || event === 'command_ended';
}

/** A value as one line of JSON that a terminal can show; what looks like a secret is masked, by default also by its name. */
export function jsonLine(value: object, hide: (text: string) => string = redact): string {
  return `${printableJson(JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? hide(inner) : inner)))}\n`;
}

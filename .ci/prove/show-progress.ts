import type { WriteStream } from 'node:tty';
import type { NamedPart } from '../../test/prove/promises.ts';
import type { ProveLine } from './proof.ts';

/** Without a terminal, a line so often. */
const EVERY_MS = 60_000;

interface PartProgress {
  part: NamedPart;
  parts: NamedPart[];
  /** Rounds of this run. */
  left: number;
  /** Of this run. */
  lines: ProveLine[];
}

/** One line that changes, on a terminal; else plain lines. */
export function createProgress(output: WriteStream | NodeJS.WriteStream) {
  let shown = '';
  let last = 0;
  const clear = (): void => {
    if (output.isTTY && shown !== '') output.write('\r\x1b[2K');
    shown = '';
  };
  const say = (text: string): void => {
    clear();
    output.write(`${text}\n`);
  };
  return {
    say,
    part({ part, parts, left, lines }: PartProgress): void {
      const tried = lines.filter((line) => line.kind === 'round' || line.kind === 'failure');
      const rounds = tried.filter((line) => line.kind === 'round');
      const perRound = rounds.reduce((sum, { ms }) => sum + ms, 0) / Math.max(rounds.length, 1);
      const minutes = Math.ceil((perRound * (left - tried.length)) / 60_000);
      const failed = tried.length - rounds.length;
      const text = [
        `${parts.indexOf(part) + 1}/${parts.length} ${part.name}`,
        `${tried.length} of ${left} rounds`,
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(rounds.length > 0 && minutes > 0 ? [`about ${minutes} min left`] : []),
      ].join(' · ');
      if (output.isTTY) {
        if (text === shown) return;
        clear();
        output.write(text.slice(0, Math.max(20, (output.columns ?? 80) - 1)));
        shown = text;
      } else if (Date.now() - last > EVERY_MS) {
        last = Date.now();
        output.write(`${text}\n`);
      }
    },
    done({ name }: NamedPart, { lines, required }: { lines: ProveLine[]; required: number }): void {
      const own = lines.filter((line) => 'part' in line && line.part === name);
      const rounds = new Set(own.flatMap((line) => (line.kind === 'round' ? [line.round] : [])));
      const failures = own.filter((line) => line.kind === 'failure').length;
      const skipped = own.findLast((line) => line.kind === 'skipped');
      const outcome =
        rounds.size === 0 && skipped ? `not run: ${skipped.reason}` : `${rounds.size} of ${required} rounds passed`;
      say(`${name}: ${outcome}${failures > 0 ? `, ${failures} failures` : ''}`);
    },
  };
}

import type { NamedPart } from '../../test/prove/promises.ts';
import { type ProveLine, roundsLeft } from './proof.ts';

/** A part without a finished round first shows what one costs. */
const FIRST_MINUTES = 1;
const MINUTES = 10;
/** A part that reaches its number within so long is driven there at once. */
const CHEAP_MINUTES = 30;

export interface Slice {
  part: NamedPart;
  rounds: number[];
  minutes: number;
}

interface Choice {
  parts: NamedPart[];
  roundsOf(part: NamedPart): number;
  lines: ProveLine[];
  /** Rounds that this run does not make again, of each part. */
  tried: Map<string, Set<number>>;
  /** Parts that this run has given up. */
  givenUp: Set<string>;
}

/** Which part comes next: one never tried, else one that is soon complete, else that farthest from its number. */
export function nextSlice({ parts, roundsOf, lines, tried, givenUp }: Choice): Slice | null {
  const open = parts.flatMap((part) => {
    if (givenUp.has(part.name)) return [];
    const rounds = roundsLeft(lines, part.name, roundsOf(part)).filter((one) => !tried.get(part.name)?.has(one));
    if (rounds.length === 0) return [];
    const made = lines.filter((line) => line.kind === 'round' && line.part === part.name);
    const ms = made.reduce((sum, line) => sum + (line.kind === 'round' ? line.ms : 0), 0);
    const minutes = made.length === 0 ? null : (rounds.length * ms) / made.length / 60_000;
    return [{ part, rounds, minutes, share: rounds.length / roundsOf(part) }];
  });
  const chosen =
    open.find(({ minutes }) => minutes === null) ??
    open.filter((one) => (one.minutes ?? 0) <= CHEAP_MINUTES).sort((a, b) => (a.minutes ?? 0) - (b.minutes ?? 0))[0] ??
    open.sort((a, b) => b.share - a.share)[0];
  if (!chosen) return null;
  const { part, rounds, minutes } = chosen;
  if (minutes === null) return { part, rounds, minutes: FIRST_MINUTES };
  return { part, rounds, minutes: minutes <= CHEAP_MINUTES ? CHEAP_MINUTES * 2 : MINUTES };
}

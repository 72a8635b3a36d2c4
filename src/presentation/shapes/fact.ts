import type { Tone } from './glyphs.ts';

/** A labelled value of a plan or a detail pane. */
export interface Fact {
  /** Empty where the value continues the one before. */
  name: string;
  value: string;
  /** The same where room is short. */
  brief?: string;
  /** In place of a value that takes more than one line. */
  short?: string;
  tone?: Tone;
}

/** A URL; where it takes more than one line, without its scheme. */
export function urlFact(name: string, url: string | null, missing: string): Fact {
  return url === null ? { name, value: missing } : { name, value: url, short: url.replace(/^\w+:\/\//, '') };
}

export const NO_DESTINATION = 'no destination is configured';

/** Returns facts of which the first alone has the name. */
export function listFacts(name: string, values: string[], tone: Tone = 'plain'): Fact[] {
  return values.map((value, index) => ({ name: index === 0 ? name : '', value, ...(tone !== 'plain' && { tone }) }));
}

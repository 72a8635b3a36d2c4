import type { Tone } from './glyphs.ts';

/** A labelled value of a plan or a detail pane. */
export interface Fact {
  /** Empty where the value continues the one before. */
  name: string;
  value: string;
  /** The same where room is short. */
  brief?: string;
  tone?: Tone;
}

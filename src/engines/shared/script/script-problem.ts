import type { ScriptPosition } from './text-window.ts';

/** A part of a script that is no SQL, or that cannot be split. */
export class ScriptProblem extends Error {
  override readonly name = 'ScriptProblem';
  readonly position: ScriptPosition;
  readonly hint: string;

  constructor(message: string, { position, hint }: { position: ScriptPosition; hint: string }) {
    super(message);
    this.position = position;
    this.hint = hint;
  }
}

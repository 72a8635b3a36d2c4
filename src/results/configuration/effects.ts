import * as v from 'valibot';
import { describe, optional, text } from '../fields.ts';

/** The kinds of effects, in the order of the question. */
export const EFFECTS = [
  'reads',
  'replaces',
  'allows',
  'stores',
  'connects',
  'tunnels',
  'reads_variable',
  'uses_file',
  'writes_folder',
  'runs_image',
  'runs_program',
  'runs_command',
  'runs_sql',
  'runs_file',
  'trusts',
  'sets',
] as const;

/** Something that a configuration lets the program do. Never contains a password. */
export const effect = v.object({
  effect: v.picklist(EFFECTS),
  object: text,
  detail: optional(describe(text, 'The target or key; of `stores`, whether encrypted; of `sets`, the value.')),
  sealed: optional(describe(v.literal(true), 'The object is encrypted in the file: it is shown, and not stored.')),
});

export type Effect = v.InferOutput<typeof effect>;

/** The kinds of effects, in the order of the question. */
export const EFFECTS = [
  'reads',
  'replaces',
  'allows',
  'stores',
  'connects',
  'reads_variable',
  'uses_file',
  'writes_folder',
  'runs_image',
  'runs_program',
  'runs_sql',
  'runs_file',
  'trusts',
  'sets',
] as const;

/** Something that a configuration lets the program do. Never contains a password. */
export interface Effect {
  effect: (typeof EFFECTS)[number];
  object: string;
  /** The target or key that has the effect; of `stores`, whether encrypted; of `sets`, the value. */
  detail?: string;
  /** The object is encrypted in the file: it is shown, and not stored. */
  sealed?: true;
}

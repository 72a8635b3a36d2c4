import type { Sized } from '../../src/results.ts';

/** What the editor asks for names of. */
export type NameKind = 'schema' | 'table' | 'cli_profile';

/** The names that there are, of one database or of the command-line client, as far as they are known. */
export type KnownNames =
  | { state: 'asked' }
  | { state: 'known'; names: Partial<Record<NameKind, Sized[]>> }
  | { state: 'failed'; why: string };

import type { TextEdit } from '../../components/text-edit.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { NameWithSize } from '../../src/results/results.ts';
import type { UserError } from '../../src/runtime/errors.ts';
import type { ListState } from '../../src/state/list.ts';

/** A tree of the configuration's sections with a form for each. Only saving writes the file. */
export interface EditorRoute {
  screen: 'editor';
  /** `null` until the file is read. */
  draft: ConfigurationDraft | null;
  error: UserError | null;
  /** Serializes the changes: each one is made on the result of the one before. */
  queue: { last: Promise<void> };
  pane: 'tree' | 'form';
  list: ListState;
  /** Selection among the fields of the selected section. */
  fields: ListState;
  /** Ids of the unfolded entries. */
  unfolded: string[];
  /** The use of the typed text: a value or a name. */
  task: 'value' | 'add' | 'rename';
  typing: TextEdit | null;
  /** The problem of the typed text. */
  wrong: string | null;
  /** The typed text whose check found that it cannot be applied. */
  refused: TextEdit | null;
  /** Existing names, such as tables, by cache key. */
  names: Record<string, KnownNames>;
  /** The name selected instead of the typed text. */
  suggestion: string | null;
}

export type NameKind = 'schema' | 'table' | 'cli_profile';

/** The names of one database or of the command-line client. */
export type KnownNames =
  | { state: 'asked' }
  | { state: 'known'; names: Partial<Record<NameKind, NameWithSize[]>> }
  | { state: 'failed'; why: string };

import type { TextEdit } from '../../components/text-edit.ts';
import type { UserError } from '../../src/errors.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Sized } from '../../src/results.ts';
import type { ListState } from '../../src/state/list.ts';

declare module '../app/route.ts' {
  interface Routes {
    editor: EditorRoute;
  }
}

/** The configuration as a tree of its sections with a form for each; nothing is written before it is saved. */
export interface EditorRoute {
  screen: 'editor';
  /** `null` until the file is read. */
  draft: Draft | null;
  error: UserError | null;
  /** Changes are made one after the other, each on what the one before it made. */
  queue: { last: Promise<void> };
  pane: 'tree' | 'form';
  /** The sections. */
  list: ListState;
  /** The fields of the selected section. */
  fields: ListState;
  /** Entries of maps, such as targets, whose sections are shown. */
  unfolded: string[];
  /** What is typed is a value of the selected field, or a name. */
  task: 'value' | 'add' | 'rename';
  typing: TextEdit | null;
  /** What is wrong with what is typed. */
  wrong: string | null;
  /** Names that exist, such as tables, as far as they were asked for. */
  names: Record<string, KnownNames>;
  /** The one of them that is selected instead of what is typed. */
  suggestion: string | null;
}

/** What the editor asks for names of. */
export type NameKind = 'schema' | 'table' | 'cli_profile';

/** The names that there are, of one database or of the command-line client, as far as they are known. */
export type KnownNames =
  | { state: 'asked' }
  | { state: 'known'; names: Partial<Record<NameKind, Sized[]>> }
  | { state: 'failed'; why: string };

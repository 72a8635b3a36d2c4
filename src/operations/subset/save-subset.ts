import type { FileRequest } from '../../config/config-file.ts';
import type { Change } from '../../config/edit/change.ts';
import { changeText } from '../../config/edit/change-text.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import { type KeyPath, type Tree, valueAt } from '../../config/tree.ts';
import { proposedSubsetUrl } from '../../config/urls/proposed-url.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import type { SubsetSettings } from '../../subset/graph.ts';
import { shellWord } from '../../text/shell-word.ts';
import {
  type ConfigurationDraft,
  changeConfigurationDraft,
  noConfigurationFile,
  openDraft,
} from '../configuration/edit-configuration.ts';

/** The settings of a subset that can be changed while its plan is shown. */
export type SubsetChoices = Required<Pick<SubsetSettings, 'subset_tables' | 'copy_tables' | 'excluded_tables'>>;

export interface SaveSubset {
  target: string;
  choices: SubsetChoices;
}

/** Writes into the configuration file which tables come whole, which stay empty, and the shares of the targets. */
export async function saveSubset({ configuration, environment }: Context, save: SaveSubset): Promise<{ file: string }> {
  const { file } = configuration;
  if (file === null) throw noConfigurationFile('save the subset in');
  const rewrite = (text: string): string => subsetChanges(parseYaml(text).tree, save).reduce(changeText, text);
  await rewriteFile({ file, environment, rewrite });
  return { file };
}

/** The file with a suggested subset, to be shown before it is written. */
export async function draftSubset(request: FileRequest, save: SaveSubset): Promise<ConfigurationDraft> {
  const draft = await openDraft(request);
  if (valueAt(draft.written, ['targets', save.target]) === undefined) {
    throw new UserError('no_configuration', `Target "${save.target}" is not in ${draft.file}`, {
      hint: `Write the section by hand: tool subset ${shellWord(save.target)} --suggest prints it.`,
    });
  }
  return changeConfigurationDraft(request, draft, subsetChanges(draft.written, save));
}

/** Items that are no longer there go, and new ones come to the end: the others keep their comments. */
function subsetChanges(tree: Tree, { target, choices }: SaveSubset): Change[] {
  const section: KeyPath = ['targets', target, 'subset'];
  const written = listAt(tree, [...section, 'subset_tables']);
  const lists = (['copy_tables', 'excluded_tables'] as const).flatMap((list) =>
    listChanges(listAt(tree, [...section, list]), [...section, list], choices[list]),
  );
  return [
    ...(valueAt(tree, section) === undefined ? urlChanges(tree, target) : []),
    ...choices.subset_tables.flatMap(({ table, where, percent }): Change[] => {
      const path = [...section, 'subset_tables'];
      const index = written.findIndex((item) => tableOf(item) === table);
      const value = { table, ...(where !== undefined && { where }), ...(percent !== undefined && { percent }) };
      if (written.length === 0) return [{ kind: 'append', path, value }];
      if (index === -1 || percent === undefined || valueAt(tree, [...path, index, 'percent']) === percent) return [];
      return [{ kind: 'set', path: [...path, index, 'percent'], value: percent }];
    }),
    ...lists,
  ];
}

/** As the file has them: a password stays encrypted, or in its variable. */
function urlChanges(tree: Tree, target: string): Change[] {
  const url = (field: string): string | undefined => {
    const value = valueAt(tree, ['targets', target, 'snapshot', field]);
    return typeof value === 'string' ? value : undefined;
  };
  const source = url('src_url');
  if (source === undefined) return [];
  const path = ['targets', target, 'subset'];
  const destination = proposedSubsetUrl(source, url('dst_url'));
  return [
    { kind: 'set', path: [...path, 'src_url'], value: source },
    ...(destination === null ? [] : [{ kind: 'set' as const, path: [...path, 'dst_url'], value: destination }]),
  ];
}

function listChanges(items: unknown[], path: KeyPath, wanted: string[]): Change[] {
  const present = items.map(String);
  const gone = [...present.keys()].filter((index) => !wanted.includes(present[index] ?? ''));
  return [
    ...gone.reverse().map((index): Change => ({ kind: 'remove', path: [...path, index] })),
    ...wanted.filter((value) => !present.includes(value)).map((value): Change => ({ kind: 'append', path, value })),
  ];
}

function listAt(tree: Tree, path: KeyPath): unknown[] {
  const value = valueAt(tree, path);
  return Array.isArray(value) ? value : [];
}

function tableOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'table' in item ? item.table : undefined;
}

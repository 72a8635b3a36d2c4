import type { FileRequest } from '../../config/config-file.ts';
import type { Change, NewItem } from '../../config/edit/change.ts';
import { changeText } from '../../config/edit/change-text.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import { isTree, type KeyPath, type Tree, valueAt } from '../../config/tree.ts';
import { proposedSubsetUrl } from '../../config/urls/proposed-url.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import type { SubsetSettings } from '../../subset/graph.ts';
import { shell } from '../../text/shell-word.ts';
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
      hint: `Write the section by hand: ${shell`tool subset ${save.target} --suggest`} prints it.`,
    });
  }
  return changeConfigurationDraft(request, draft, subsetChanges(draft.written, save));
}

/** Items that are no longer there go, and new ones come to the end: the others keep their comments. */
function subsetChanges(tree: Tree, { target, choices }: SaveSubset): Change[] {
  const section: KeyPath = ['targets', target, 'subset'];
  const { subset_tables: roots } = choices;
  const path = [...section, 'subset_tables'];
  const written = listAt(tree, path);
  return [
    ...(valueAt(tree, section) === undefined ? urlChanges(tree, target) : []),
    ...(written.length === 0 ? newItems(tree, path, roots.map(rootItem)) : percentChanges(written, path, roots)),
    ...(['copy_tables', 'excluded_tables'] as const).flatMap((list) =>
      listChanges(tree, [...section, list], choices[list]),
    ),
  ];
}

function rootItem({ table, where, percent }: SubsetChoices['subset_tables'][number]): NewItem {
  return { table, ...(where !== undefined && { where }), ...(percent !== undefined && { percent }) };
}

function percentChanges(written: unknown[], path: KeyPath, roots: SubsetChoices['subset_tables']): Change[] {
  return roots.flatMap(({ table, percent }): Change[] => {
    const index = written.findIndex((item) => isTree(item) && item.table === table);
    const item = written[index];
    if (percent === undefined || !isTree(item) || item.percent === percent) return [];
    return [{ kind: 'set', path: [...path, index, 'percent'], value: percent }];
  });
}

/** Sets the URLs as the file has them: a password stays encrypted, or in its variable. */
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

function listChanges(tree: Tree, path: KeyPath, wanted: string[]): Change[] {
  const present = listAt(tree, path).map(String);
  const gone = [...present.keys()].filter((index) => !wanted.includes(present[index] ?? ''));
  return [
    ...gone.reverse().map((index): Change => ({ kind: 'remove', path: [...path, index] })),
    ...newItems(
      tree,
      path,
      wanted.filter((value) => !present.includes(value)),
    ),
  ];
}

/** A list that is not there yet comes as a whole. */
function newItems(tree: Tree, path: KeyPath, items: NewItem[]): Change[] {
  if (items.length === 0) return [];
  if (valueAt(tree, path) === undefined) return [{ kind: 'set', path, value: items }];
  return items.map((value) => ({ kind: 'append', path, value }));
}

function listAt(tree: Tree, path: KeyPath): unknown[] {
  const value = valueAt(tree, path);
  return Array.isArray(value) ? value : [];
}

import { changeText } from '../../config/edit/change-text.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import { type KeyPath, valueAt } from '../../config/tree.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import type { SubsetSettings } from '../../subset/graph.ts';

/** The settings of a subset that can be changed while its plan is shown. */
export type SubsetChoices = Required<Pick<SubsetSettings, 'subset_tables' | 'copy_tables' | 'excluded_tables'>>;

export interface SaveSubset {
  target: string;
  choices: SubsetChoices;
}

/** Writes into the configuration file which tables come whole, which stay empty, and the shares of the targets. */
export async function saveSubset(
  { configuration, environment }: Context,
  { target, choices }: SaveSubset,
): Promise<{ file: string }> {
  const { file } = configuration;
  if (file === null) {
    throw new UserError('no_configuration', 'There is no configuration file to save the subset in', {
      hint: 'The configuration is in variables of the environment: change those.',
    });
  }
  const section: KeyPath = ['targets', target, 'subset'];
  const rewrite = (before: string): string => {
    let text = before;
    for (const list of ['copy_tables', 'excluded_tables'] as const) {
      text = withList(text, [...section, list], choices[list]);
    }
    for (const { table, percent } of choices.subset_tables) {
      const written = listAt(text, [...section, 'subset_tables']);
      const index = written.findIndex((item) => tableOf(item) === table);
      const path = [...section, 'subset_tables', index, 'percent'];
      if (index === -1 || percent === undefined || valueAt(parseYaml(text).tree, path) === percent) continue;
      text = changeText(text, { kind: 'set', path, value: percent });
    }
    return text;
  };
  await rewriteFile({ file, environment, rewrite });
  return { file };
}

/** Items that are no longer there go, and new ones come to the end: the others keep their comments. */
function withList(before: string, path: KeyPath, wanted: string[]): string {
  let text = before;
  for (const [index, item] of [...listAt(text, path).entries()].reverse()) {
    if (!wanted.includes(String(item))) text = changeText(text, { kind: 'remove', path: [...path, index] });
  }
  const kept = listAt(text, path).map(String);
  for (const value of wanted) {
    if (!kept.includes(value)) text = changeText(text, { kind: 'append', path, value });
  }
  return text;
}

function listAt(text: string, path: KeyPath): unknown[] {
  const value = valueAt(parseYaml(text).tree, path);
  return Array.isArray(value) ? value : [];
}

function tableOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'table' in item ? item.table : undefined;
}

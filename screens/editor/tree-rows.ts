import type { Shape } from '../../src/config/schema/shape.ts';
import { dotted, isTree, type KeyPath, valueAt } from '../../src/config/tree.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Problem } from '../../src/results/configuration/configuration-results.ts';

/** A section of the configuration. */
export interface TreeRow {
  id: string;
  path: KeyPath;
  label: string;
  depth: number;
  shape: Shape;
  /** The file contains it. */
  isSet: boolean;
  /** Its sections are hidden; `null` for sections that cannot be folded. */
  folded: boolean | null;
  /** Problems of the section and everything below it. */
  problems: Problem[];
}

export function rowId(path: KeyPath): string {
  return JSON.stringify(path);
}

/** The sections of the schema and of the file, outermost first. */
export function treeRows(draft: ConfigurationDraft, unfolded: string[]): TreeRow[] {
  const { shape } = draft;
  const general: TreeRow = {
    ...{ id: rowId([]), path: [], label: 'general', depth: 0, shape, isSet: true, folded: null },
    problems: draft.problems.filter(({ key }) => isValue(shape, key)),
  };
  return [general, ...sectionsOf({ shape, path: [], depth: 0 }, { draft, unfolded })];
}

function isValue(shape: Shape, key: string): boolean {
  return (
    key === '' || (shape.kind === 'object' && (shape.keys.get(key)?.kind ?? 'value') === 'value' && !/[.[]/.test(key))
  );
}

interface Section {
  shape: Shape;
  path: KeyPath;
  depth: number;
}

function sectionsOf(
  section: Section,
  { draft, unfolded }: { draft: ConfigurationDraft; unfolded: string[] },
): TreeRow[] {
  return partsOf(section, draft).flatMap(({ path, shape, label, isEntry }) => {
    const id = rowId(path);
    const folded = isEntry ? !unfolded.includes(id) : null;
    const row: TreeRow = {
      ...{ id, path, label, depth: section.depth, shape, folded },
      isSet: valueAt(draft.written, path) !== undefined,
      problems: problemsBelow(draft.problems, path),
    };
    const inside = { shape, path, depth: section.depth + 1 };
    return folded ? [row] : [row, ...sectionsOf(inside, { draft, unfolded })];
  });
}

interface Part {
  path: KeyPath;
  shape: Shape;
  label: string;
  /** An entry of a map: the name is the user's, not the schema's. */
  isEntry: boolean;
}

function partsOf({ shape, path }: Section, { written }: ConfigurationDraft): Part[] {
  const value = valueAt(written, path);
  switch (shape.kind) {
    case 'object':
      return [...shape.keys]
        .filter(([, child]) => child.kind !== 'value')
        .map(([key, child]) => ({ path: [...path, key], shape: child, label: key, isEntry: false }));
    case 'map':
      return Object.keys(isTree(value) ? value : {}).map((name) => ({
        ...{ path: [...path, name], shape: shape.of, label: name, isEntry: true },
      }));
    case 'list':
      if (shape.of.kind !== 'object' || !Array.isArray(value)) return [];
      return value.map((item, index) => ({
        ...{ path: [...path, index], shape: shape.of, label: itemLabel(item, index), isEntry: false },
      }));
    case 'value':
      return [];
    default:
      return shape satisfies never;
  }
}

function itemLabel(item: unknown, index: number): string {
  const [first] = isTree(item) ? Object.values(item) : [];
  return typeof first === 'string' ? `${index + 1} ${first}` : String(index + 1);
}

export function problemsBelow(problems: Problem[], path: KeyPath): Problem[] {
  const key = dotted(path);
  return problems.filter((problem) => problem.key === key || /^[.[]/.test(after(problem.key, key)));
}

function after(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : '';
}

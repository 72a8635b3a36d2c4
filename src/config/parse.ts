import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLError } from 'yaml';
import { keyOf, readTree, TEMPLATE_IN_QUOTES } from './read-tree.ts';
import type { KeyPath, Tree } from './tree.ts';

export interface Position {
  line: number;
  column: number;
}

/** Something wrong in the text of a file, before anybody asks what the text means. */
export interface Flaw extends Position {
  code: string;
  message: string;
  hint: string | null;
}

/** A file of YAML: its values, and where each of them stands. */
export interface Parsed {
  /** `null` when the text is no YAML, so that nothing in it can be relied on. */
  tree: Tree | null;
  flaws: Flaw[];
  /** Where a value or its key stands, or the nearest thing around it that is in the file. */
  locate(path: KeyPath, what: 'key' | 'value'): Position;
}

export function parse(text: string): Parsed {
  const lines = new LineCounter();
  // Duplicates are looked for while reading: the parser's own search takes quadratic time.
  const options = {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
    logLevel: 'error',
  } as const;
  const document = parseDocument(text, options);
  const errors = firstOfEachLine([...document.errors, ...document.warnings], lines);
  const flaws: Flaw[] = errors.map((error) => syntaxFlaw(error, { text, lines }));
  const isYaml = flaws.length === 0;
  const report = (
    offset: number,
    { code, message, hint = null }: { code: string; message: string; hint?: string | null },
  ) => flaws.push({ ...positionAt(lines, offset), code, message, hint });
  return {
    tree: isYaml ? readTree(document, report) : null,
    flaws,
    locate(path, what) {
      const { key, value, found } = findNodes(document, path);
      return positionAt(lines, startOf(found && what === 'value' ? (value ?? key) : (key ?? value)));
    },
  };
}

/** A value written as YAML or JSON in one piece, as in a variable; the text itself when it is not. */
export function parseValue(text: string): unknown {
  const { tree, flaws } = parse(`{"value": ${text}}`);
  return tree && flaws.length === 0 && Object.keys(tree).length === 1 ? tree.value : text;
}

/** What to do about the mistakes that YAML invites, by the parser's own codes. */
const SYNTAX_HINTS: Record<string, string> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BLOCK_AS_IMPLICIT_KEY: 'A value with ": " in it stands in quotes.',
  BAD_INDENT: 'Keys of one level begin in the same column.',
  MISSING_CHAR: 'A quote, a bracket or the colon of a key is missing.',
  MULTIPLE_DOCS: 'A configuration is one document; remove what begins with ---.',
  BAD_SCALAR_START: 'A value that begins with this character stands in quotes.',
};

/** Where the parser's own words tell of its inside. */
const SYNTAX_MESSAGES: Record<string, string> = {
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  MULTIPLE_DOCS: 'it holds several documents',
};

function syntaxFlaw({ code, message, pos }: YAMLError, { text, lines }: { text: string; lines: LineCounter }): Flaw {
  const before = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0]);
  // Behind the colon the parser quotes the file, in which a password may stand.
  const reason = SYNTAX_MESSAGES[code] ?? message.replace(/:.*$/s, '');
  const hint = /:\s*\{\{/.test(before) ? TEMPLATE_IN_QUOTES : (SYNTAX_HINTS[code] ?? null);
  return { ...positionAt(lines, pos[0]), code: 'yaml_syntax', message: `not valid YAML: ${reason}`, hint };
}

/** The key and the value at a path, or of the nearest ancestor that is there. */
function findNodes({ contents }: Document.Parsed, path: KeyPath): { key: unknown; value: unknown; found: boolean } {
  let key: unknown = null;
  let value: unknown = contents;
  for (const part of path) {
    if (isSeq(value)) {
      const item = value.items[Number(part)];
      if (item === undefined) return { key, value, found: false };
      key = item;
      value = item;
    } else {
      const pair = isMap(value) ? value.items.find((candidate) => keyOf(candidate) === String(part)) : undefined;
      if (!pair) return { key, value, found: false };
      key = pair.key;
      value = isEmpty(pair.value) ? pair.key : pair.value;
    }
  }
  return { key, value, found: true };
}

/** A key without a value: what stands nearest to it is the key. */
function isEmpty(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null);
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** One mistake confuses the parser for the rest of its line. */
function firstOfEachLine(errors: YAMLError[], lines: LineCounter): YAMLError[] {
  const ofLine = new Map<number, YAMLError>();
  for (const error of errors) {
    const { line } = lines.linePos(error.pos[0]);
    if (!ofLine.has(line)) ofLine.set(line, error);
  }
  return [...ofLine.values()];
}

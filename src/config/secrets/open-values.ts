import { boundedList } from '../../text/bounded-list.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { dotted, isTree, type KeyPath, type Tree } from '../tree.ts';
import type { TemplatePiece } from '../urls/template.ts';
import { joinUrl } from '../urls/url-insertion.ts';
import { decrypt, ENCRYPTED, isWhole } from './cipher.ts';

export interface OpenedValues {
  openFilled(): void;
  problems(): KeyProblem[];
  /** Problems without the decrypted values in their messages; none about values that are still encrypted. */
  withoutValues(problems: KeyProblem[]): KeyProblem[];
}

/** Part of a URL: `postgres://user:$aes$…@host/db`. Other text is encrypted as a whole. */
const PART = /(\$aes\$[0-9a-fA-F]*)/;

/** Placeholder of an encrypted value, so that it is not also missing. */
const CLOSED = '***';

const WRITE_AGAIN = 'Write the plain value, then: tool config encrypt';

interface ValueSlot {
  parent: Tree;
  name: string;
  path: KeyPath;
}

/**
 * Decrypts every text of the configuration in place, templates included. Without a valid key nothing is decrypted, and
 * the key has its own problem.
 */
export function openValues(tree: Tree): OpenedValues {
  const key = typeof tree.secret_key === 'string' && /^[0-9a-f]{32}$/i.test(tree.secret_key) ? tree.secret_key : null;
  const isWithoutKey = tree.secret_key === undefined;
  const opened = new Map<string, string>();
  const closed = new Map<string, { path: KeyPath; damaged: boolean }>();
  const withTemplates: ValueSlot[] = [];

  function open(value: unknown, path: KeyPath): void {
    if (typeof value !== 'object' || value === null) return;
    for (const name of Object.keys(value)) {
      const parent = value as Tree;
      const child = parent[name];
      if (path.length === 0 && name === 'secret_key') continue;
      if (typeof child === 'string' && !child.includes(ENCRYPTED) && !child.includes('{{')) continue;
      const here = [...path, isTree(value) ? name : Number(name)];
      if (typeof child === 'string') openWritten({ parent, name, path: here });
      else open(child, here);
    }
  }

  function openWritten(place: ValueSlot): void {
    const { parent, name } = place;
    const text = String(parent[name]);
    // The part of a URL is known only after its templates are filled in.
    if (text.startsWith(ENCRYPTED) || !text.includes('{{')) openText(place);
    if (String(parent[name]).includes('{{')) withTemplates.push(place);
  }

  function openText({ parent, name, path }: ValueSlot): void {
    const text = parent[name];
    if (typeof text !== 'string' || !text.includes(ENCRYPTED)) return;
    const isAll = text.startsWith(ENCRYPTED);
    if (!isAll && !text.includes('://')) return;
    const parts = isAll ? [text] : text.split(PART);
    const plain = key === null ? null : isAll ? decrypt(text, key) : openParts(parts, key);
    if (plain !== null) opened.set(dotted(path), plain);
    else
      closed.set(dotted(path), { path, damaged: parts.some((part) => part.startsWith(ENCRYPTED) && !isWhole(part)) });
    parent[name] = plain ?? CLOSED;
  }

  open(tree, []);
  return {
    openFilled: () => withTemplates.forEach(openText),
    problems() {
      if (key !== null) return notOpened([...closed.values()], { none: opened.size === 0 });
      return isWithoutKey && closed.size > 0 ? [missingKey([...closed.keys()])] : [];
    },
    withoutValues: (problems) =>
      problems
        .filter(({ path }) => !closed.has(dotted(path)))
        .map((problem) => withoutValue(problem, opened.get(dotted(problem.path)))),
  };
}

/** Decrypts the parts of a URL, each encoded for its part. */
function openParts(parts: string[], key: string): string | null {
  const pieces: TemplatePiece[] = [];
  for (const part of parts) {
    const inserted = part.startsWith(ENCRYPTED);
    const text = inserted ? decrypt(part, key) : part;
    if (text === null) return null;
    if (text !== '' || inserted) pieces.push({ text, inserted });
  }
  return joinUrl(pieces);
}

function missingKey(encrypted: string[]): KeyProblem {
  return {
    path: ['secret_key'],
    code: 'missing_key',
    message: { says: `is missing, and ${encrypted[0]} is encrypted` },
    hint: 'Set the secret_key that it was encrypted with, or write plain values.',
  };
}

/** Reports values that cannot be decrypted; a wrong key, with which none decrypts, is reported once. */
function notOpened(closed: { path: KeyPath; damaged: boolean }[], { none }: { none: boolean }): KeyProblem[] {
  const code = 'secret_not_opened';
  const whole = closed.filter(({ damaged }) => !damaged);
  const isWrongKey = none && whole.length > 1;
  const damages = closed.map(({ path, damaged }): KeyProblem => {
    const says = damaged ? 'is a truncated encrypted value' : 'cannot be decrypted with this secret_key';
    const why = damaged ? 'A part of it is missing.' : 'It was encrypted with another secret_key, or it is damaged.';
    return { path, code, message: { says }, hint: `${why} ${WRITE_AGAIN}` };
  });
  if (!isWrongKey) return damages;
  const keys = whole.map(({ path }) => dotted(path));
  const wrongKey: KeyProblem = {
    path: ['secret_key'],
    code,
    message: { says: `opens none of the encrypted values: ${boundedList(keys, 3)}` },
    hint: 'Set the secret_key that they were encrypted with.',
  };
  return [wrongKey, ...damages.filter((_, index) => closed[index]?.damaged)];
}

/** Errors often repeat the value; advice concerns the key. */
function withoutValue(problem: KeyProblem, plain: string | undefined): KeyProblem {
  const { path, code, severity = 'error', message, hint } = problem;
  const told = `${typeof message === 'string' ? message : message.says} ${hint}`;
  if (plain === undefined || (severity === 'warning' && !told.includes(plain))) return problem;
  const says = `is encrypted, and its decrypted value is invalid (${code})`;
  return { path, code, severity, message: { says }, hint: WRITE_AGAIN };
}

import type { Finding } from '../finding.ts';
import type { Piece } from '../template.ts';
import { dotted, isTree, type KeyPath, removeValue, type Tree } from '../tree.ts';
import { joinUrl } from '../url-insertion.ts';
import { decrypt, ENCRYPTED } from './cipher.ts';

export interface OpenedValues {
  findings: Finding[];
  /** Dotted keys of the values that were encrypted: nothing may show them. */
  opened: Set<string>;
}

/** A value that is encrypted whole, or in part where it is a URL: `postgres://user:$aes$…@host/db`. */
const WHOLE = /^\$aes\$\S*$/;
/** Stands for an item that cannot be opened. */
const HIDDEN = '***';
const PART = /(\$aes\$[0-9a-f]*)/gi;

/**
 * Puts what was encrypted into its place, in every text of the configuration. What cannot be opened is taken out, and
 * a finding; without a key that fits its form nothing can be, and the key's own finding says so.
 */
export function openValues(tree: Tree): OpenedValues {
  const key = typeof tree.secret_key === 'string' && /^[0-9a-f]{32}$/i.test(tree.secret_key) ? tree.secret_key : null;
  const findings: Finding[] = [];
  const opened = new Set<string>();

  function open(parent: Tree | unknown[], name: string | number, path: KeyPath): void {
    const value = (parent as Tree)[name];
    if (Array.isArray(value)) for (const index of value.keys()) open(value, index, [...path, index]);
    else if (isTree(value)) for (const child of Object.keys(value)) open(value, child, [...path, child]);
    else if (typeof value === 'string' && value.includes(ENCRYPTED)) openText(value, { parent, name, path });
  }

  function openText(
    text: string,
    { parent, name, path }: { parent: Tree | unknown[]; name: string | number; path: KeyPath },
  ): void {
    const isWhole = WHOLE.test(text);
    // Elsewhere `$aes$` is a text like any other.
    if (!isWhole && !text.includes('://')) return;
    const plain = key === null ? null : isWhole ? decrypt(text, key) : openParts(text, key);
    if (plain === null) {
      if (key !== null) findings.push(notOpened(path));
      // The neighbours in a list keep their numbers.
      if (Array.isArray(parent)) parent[Number(name)] = HIDDEN;
      else removeValue(tree, path);
    } else {
      opened.add(dotted(path));
      (parent as Tree)[name] = plain;
    }
  }

  for (const name of Object.keys(tree)) if (name !== 'secret_key') open(tree, name, [name]);
  return { findings, opened };
}

/** The URL with its encrypted parts in plain, each fitted to its place as what a template inserts is. */
function openParts(url: string, key: string): string | null {
  const pieces: Piece[] = [];
  for (const part of url.split(PART)) {
    const inserted = part.toLowerCase().startsWith(ENCRYPTED);
    const text = inserted ? decrypt(part, key) : part;
    if (text === null) return null;
    if (text !== '' || inserted) pieces.push({ text, inserted });
  }
  return joinUrl(pieces);
}

function notOpened(path: KeyPath): Finding {
  return {
    path,
    code: 'secret_not_opened',
    message: { says: 'cannot be decrypted with this secret_key' },
    hint: 'It was encrypted with another secret_key, or it is damaged. Write the plain value, then: tool config encrypt',
  };
}

/** A finding about a value that was encrypted, without what its message may repeat of the value. */
export function withoutValue(finding: Finding, { opened }: OpenedValues): Finding {
  if (!opened.has(dotted(finding.path))) return finding;
  return { ...finding, message: { says: `is encrypted, and what it holds is not right (${finding.code})` }, offset: 0 };
}

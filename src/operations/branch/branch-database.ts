import { createHash } from 'node:crypto';
import { UserError } from '../../runtime/errors.ts';
import { isVisibleName, LONGEST_VISIBLE_NAME } from '../../text/visible-name.ts';

/** Branches that one command creates, at most. */
const MOST = 100;
const DIGEST_LENGTH = 8;

export interface BranchNameRule {
  prefix: string;
  limit: { most: number; lengthOf: (text: string) => number };
}

/**
 * The database of a branch: lower-case letters, digits and `_`, so that no client has to quote it, with a digest where
 * it would be too long or belongs to another branch.
 */
export function branchDatabase(name: string, { prefix, limit }: BranchNameRule, taken: Set<string>): string {
  const whole = prefix + safe(name);
  const digested = (): string => `${cut(whole, limit)}_${digest(name)}`;
  return limit.lengthOf(whole) > limit.most || taken.has(whole) ? digested() : whole;
}

function safe(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}]+/gu, '_')
      .replaceAll(/^_+|_+$/g, '') || digest(name)
  );
}

function cut(text: string, { most, lengthOf }: BranchNameRule['limit']): string {
  let kept = '';
  for (const character of text) {
    if (lengthOf(kept + character) > most - DIGEST_LENGTH - 1) break;
    kept += character;
  }
  return kept;
}

function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
}

/** `test` with a count of 3: `test_1`, `test_2`, `test_3`. */
export function branchNames(name: string, count?: number): string[] {
  assertBranchName(name);
  if (count === undefined) return [name];
  if (count < 1 || count > MOST) {
    throw new UserError('invalid_value', `--count ${count} is not between 1 and ${MOST}`, {
      hint: `Use a number from 1 to ${MOST}.`,
    });
  }
  return Array.from({ length: count }, (_, index) => `${name}_${index + 1}`);
}

export function isNumbered(branch: string, name: string): boolean {
  return branch.startsWith(`${name}_`) && /^\d{1,3}$/.test(branch.slice(name.length + 1));
}

function assertBranchName(name: string): void {
  if (isVisibleName(name)) return;
  const shown = JSON.stringify(name.slice(0, LONGEST_VISIBLE_NAME));
  throw new UserError('invalid_value', `${shown} is not a name for a branch`, {
    hint: `Use at most ${LONGEST_VISIBLE_NAME} letters, digits and other visible characters.`,
  });
}

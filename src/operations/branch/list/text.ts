import { basename } from 'node:path';
import type { Column } from '../../../presentation/shapes/column.ts';
import type { Fact } from '../../../presentation/shapes/fact.ts';
import type { BranchRow, TargetBranch } from '../../../results/branch-results.ts';
import { formatAge, formatTime } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { sizeText } from '../shared-text.ts';

export const NO_BRANCHES = 'No branches. Create one: tool branch create TARGET NAME';

export const NO_BRANCH = 'No branch is selected';
export const CURRENT_BRANCH = 'The branch is the destination at present';
export const NAME_OF_BRANCH = 'The name of the branch, such as that of the git branch';

export function nameOfBranchFrom(from: string): string {
  return `From the present state of ${printable(from)}: the name of the new branch`;
}

/** Without the columns of working trees and expiry where no branch has one. */
export function branchColumns(branches: readonly BranchRow[], now: Date): Column<BranchRow>[] {
  const ofTree: Column<BranchRow>[] = [
    { title: 'TREE', dropRank: 7, cell: ({ tree }) => ({ text: printable(basename(tree ?? '')) }) },
  ];
  const expiry: Column<BranchRow>[] = [
    { title: 'EXPIRES', whole: true, dropRank: 4, cell: (branch) => ({ text: expiryText(branch, now) }) },
  ];
  return [
    {
      title: 'BRANCH',
      grows: true,
      essential: true,
      cell: ({ name, current, protected: isProtected }) => ({
        text: printable(name),
        ...((current || isProtected) && { mark: `${current ? ' *' : ''}${isProtected ? ' protected' : ''}` }),
      }),
    },
    { title: 'DATABASE', dropRank: 2, cell: ({ database }) => ({ text: printable(database) }) },
    { title: 'AGE', whole: true, cell: (branch) => ({ text: ageText(branch.reset_at ?? branch.created_at, now) }) },
    { title: 'SIZE', align: 'right', whole: true, cell: ({ size_bytes }) => ({ text: sizeText(size_bytes) }) },
    { title: 'OWN', align: 'right', dropRank: 6, cell: ({ own_bytes }) => ({ text: sizeText(own_bytes) }) },
    { title: 'SNAPSHOT', whole: true, dropRank: 3, cell: ({ snapshot }) => ({ text: snapshot ?? 'unknown' }) },
    { title: 'GIT BRANCH', dropRank: 5, cell: ({ git_branch }) => ({ text: printable(git_branch ?? '') }) },
    ...(branches.some(({ tree }) => tree !== null) ? ofTree : []),
    ...(branches.some(({ expires_at }) => expires_at !== null) ? expiry : []),
    { title: 'LAST USED', whole: true, dropRank: 1, cell: (branch) => ({ text: lastUseText(branch, now) }) },
  ];
}

export function targetBranchColumns(branches: readonly TargetBranch[], now: Date): Column<TargetBranch>[] {
  const target: Column<TargetBranch> = {
    title: 'TARGET',
    dropRank: 4,
    cell: ({ target }) => ({ text: printable(target) }),
  };
  return [target, ...branchColumns(branches, now)];
}

export function branchFacts(branch: BranchRow, now: Date): { title: string; facts: Fact[] } {
  const { tree, expires_at, origin, protected: isProtected } = branch;
  const { name, url, created_at, reset_at, snapshot, repository, git_branch, own_bytes, size_bytes } = branch;
  const git = git_branch === null ? 'none' : `${git_branch}${repository === null ? '' : ` of ${repository}`}`;
  const own = own_bytes === size_bytes ? '' : `, of its own: ${sizeText(own_bytes)}`;
  return {
    title: `${printable(name)}${branch.current ? ', the destination at present' : ''}`,
    facts: [
      { name: 'URL', value: printable(url) },
      { name: 'Created', value: formatTime(created_at) },
      ...(reset_at === null ? [] : [{ name: 'Reset', value: formatTime(reset_at) }]),
      { name: 'Last used', value: lastUseText(branch, now) },
      { name: 'Snapshot', value: snapshot ?? 'unknown' },
      ...(origin ? [{ name: 'From', value: `branch ${printable(origin.branch)}` }] : []),
      { name: 'Size', value: `${sizeText(size_bytes)}${own}` },
      { name: 'Git branch', value: printable(git) },
      ...(tree === null ? [] : [{ name: 'Working tree', value: printable(tree) }]),
      ...(expires_at === null ? [] : [{ name: 'Expires', value: formatTime(expires_at) }]),
      ...(isProtected ? [{ name: 'Protected', value: 'yes' }] : []),
    ],
  };
}

function ageText(at: string, now: Date): string {
  return formatAge(now.getTime() - Date.parse(at));
}

function expiryText({ expires_at }: BranchRow, now: Date): string {
  if (expires_at === null) return '';
  const left = Date.parse(expires_at) - now.getTime();
  const hours = Math.ceil(left / 3_600_000);
  if (left <= 0) return 'expired';
  return hours < 48 ? `in ${hours} h` : `in ${Math.floor(hours / 24)} days`;
}

function lastUseText({ clients, last_used_at }: BranchRow, now: Date): string {
  if (clients > 0) return `in use (${clients})`;
  return last_used_at === null ? 'unknown' : ageText(last_used_at, now);
}

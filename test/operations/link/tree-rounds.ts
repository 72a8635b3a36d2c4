import { readdir, readFile, stat } from 'node:fs/promises';
import { expect } from 'vitest';
import type { LinkedRepository } from '../../helpers/linked-repository.ts';
import { randomFrom } from '../../helpers/random.ts';

/** Adds, removes, moves, prunes and renames trees; after each round, every tree has a database of its own, and no other is left. */
export async function runTreeRounds(repository: LinkedRepository, { rounds, seed }: { rounds: number; seed: number }) {
  const { git, branches, databaseOf, path, prune, place, environment } = repository;
  const random = randomFrom(seed);
  const pick = <Item>(items: Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const trees = new Map<string, string>();
  let gone = 0;
  const names = Array.from({ length: 5 }, (_, index) => `t${index}`);
  const check = (result: { status: number | null; stderr: string }): void =>
    expect(result).toMatchObject({ status: 0 });
  for (let round = 0; round < rounds; round++) {
    const [name, other] = [pick(names) ?? '', pick([...trees.keys()])];
    const free = !trees.has(name);
    const action = pick(['add', 'add', 'remove', 'move', 'prune', 'rename']);
    if (action === 'add' && free) {
      check(git('main', 'worktree', 'add', '--quiet', path(name), '-b', `b${round}`));
      trees.set(name, await databaseOf(name));
    } else if (action === 'remove' && other !== undefined) {
      check(git('main', 'worktree', 'remove', '--force', path(other)));
      trees.delete(other);
      gone++;
    } else if (action === 'move' && other !== undefined && free) {
      check(git('main', 'worktree', 'move', path(other), path(name)));
      trees.set(name, trees.get(other) ?? '');
      trees.delete(other);
    } else if (action === 'rename' && other !== undefined) {
      check(git(other, 'checkout', '--quiet', '-b', `r${round}`));
    } else if (action === 'prune') {
      expect((await prune()).dropped).toHaveLength(gone);
      gone = 0;
    }
    const where = `seed ${seed}, round ${round}: ${action} ${name} ${other ?? ''}`;
    const present = await branches();
    const used = [...trees.values()];
    expect(new Set(used).size, where).toBe(trees.size);
    expect(present.length, where).toBe(trees.size + gone);
    for (const [tree, database] of trees) {
      expect(await databaseOf(tree), where).toBe(database);
      expect(present.find((branch) => branch.database === database)?.tree, where).toBe(path(tree));
      expect((await stat(path(`${tree}/.env.local`))).mode & 0o777, where).toBe(0o600);
    }
    expect(await readFile(`${place('main')}/.env.local`, 'utf8'), where).toBe(environment());
  }
  for (const tree of trees.keys()) check(git('main', 'worktree', 'remove', '--force', path(tree)));
  expect((await prune()).dropped).toHaveLength(trees.size + gone);
  expect(await branches()).toEqual([]);
  expect(await readdir(`${place('main')}/.git/tool/trees`)).toEqual([]);
}

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { copyChoices } from '../../screens/commands/copy-text.ts';
import { fakeSnapshot, fakeTarget } from '../helpers/fakes/fake-world.ts';

const target = fakeTarget({ name: "ada's shop" });

test('a shell reads a copied command back as its words', () => {
  const choices = copyChoices({ target, snapshot: fakeSnapshot({ id: '8c41f2ab' }), config: '/home/a b/tool.yml' });
  const load = choices.find(({ label }) => label.startsWith('Load'))?.text ?? '';
  const words = execFileSync('sh', ['-c', `tool() { printf '%s\\n' "$@"; }; ${load}`], { encoding: 'utf8' });
  expect(words).toBe("--config\n/home/a b/tool.yml\nload\nada's shop\n8c41f2ab\n");
});

test('what the target lacks is not offered', () => {
  const bare = fakeTarget({ name: 'app', src_url: null, dst_url: null });
  expect(copyChoices({ target: bare, snapshot: null, config: null }).map(({ text }) => text)).toEqual([
    'app',
    'tool target app',
  ]);
});

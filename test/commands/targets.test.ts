import { expect, test } from 'vitest';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

const NOBODY = 'postgres://app@127.0.0.1:1';

const UNSET = [
  'targets:',
  '  unset:',
  '    snapshot:',
  '      src_url: "postgres://app:{{`NOT_SET` | env}}@127.0.0.1:1/a"',
  `      dst_url: ${NOBODY}/a_dev`,
  '  shared:',
  '    share: {dst_url: "{{`NOT_SET` | env}}"}',
  '  good:',
  '    snapshot:',
  `      src_url: ${NOBODY}/b`,
  '',
].join('\n');

test('targets lists every target where a variable of one is not set', async () => {
  const { json, tool } = await configuredCli(UNSET);
  const reason = expect.stringContaining('the variable NOT_SET is not set');
  for (const words of [['targets'], ['targets', '--no-check']]) {
    const { exit, last } = await json(words);
    expect(exit).toBe(0);
    expect(last.targets).toMatchObject([
      { name: 'unset', status: 'unchecked', src_url: null, dst_url: `${NOBODY}/a_dev`, error: reason },
      { name: 'shared', status: 'unchecked', dst_url: null, error: reason },
      { name: 'good', src_url: `${NOBODY}/b` },
    ]);
  }
  expect((await tool(['targets'])).stdout).toContain('unset: ');
  expect(await tool(['target', 'unset'])).toMatchObject({ exit: 0 });
});

test('only operations that use the URL fail', async () => {
  const { json } = await configuredCli(UNSET);
  expect(await json(['build', 'unset'])).toMatchObject({ exit: 3, last: { code: 'template_failed' } });
});

test('targets shows a destination that comes from override or defaults', async () => {
  const { json } = await configuredCli(
    [
      `override: {dst_db_url: "${NOBODY}/everywhere"}`,
      `defaults: {shared_target_dst_db_url: "${NOBODY}/shared"}`,
      'targets:',
      `  app: {snapshot: {src_url: "${NOBODY}/a"}}`,
      `  own: {snapshot: {src_url: "${NOBODY}/a", dst_url: "${NOBODY}/b"}}`,
      '  team: {share: {}}',
      '',
    ].join('\n'),
  );
  expect((await json(['targets', '--no-check'])).last.targets).toMatchObject([
    { name: 'app', dst_url: `${NOBODY}/everywhere` },
    { name: 'own', dst_url: `${NOBODY}/b` },
    { name: 'team', dst_url: `${NOBODY}/everywhere` },
  ]);
  const defaulted = await configuredCli(
    `defaults: {shared_target_dst_db_url: "${NOBODY}/shared"}\ntargets: {team: {share: {}}, app: {snapshot: {}}}\n`,
  );
  expect((await defaulted.json(['targets'])).last.targets).toMatchObject([
    { name: 'team', dst_url: `${NOBODY}/shared`, status: 'unreachable', engine: 'postgres' },
    { name: 'app', dst_url: null },
  ]);
});

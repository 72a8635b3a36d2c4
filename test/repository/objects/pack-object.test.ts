import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

const PROGRAM = `
  const [, module, folder] = process.argv;
  const { packContents } = await import(module);
  const contents = Array.from({ length: 2000 }, (_, n) => ({
    content: new Uint8Array(Buffer.from(\`row \${n}\\n\`)), destination: \`\${folder}/\${n}\`, terminator: null,
  }));
  console.log((await packContents(contents, folder)).length);`;

test('thousands of small contents are packed with few open files', async () => {
  await using folder = await temporaryFolder();
  const module = new URL('../../../src/repository/objects/pack-object.ts', import.meta.url).href;
  const words = ['ulimit -n 128; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', PROGRAM];
  expect(execFileSync('sh', ['-c', ...words, module, folder.path], { encoding: 'utf8' })).toBe('2000\n');
});

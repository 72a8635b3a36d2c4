import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// What is left of an earlier style of names and comments. A number may only fall: lower it with the change that mends some.

const root = fileURLToPath(new URL('../..', import.meta.url));

const LEFT: [what: string, pattern: RegExp, left: number][] = [
  [
    'doc comments that begin with a word of which a sentence is not made',
    /^ *\/\*\* (?:Of|What|Whether|As|Where|Those|That|How|Told|Such|Which|Whose|Who|When|Tells) /gm,
    0,
  ],
  [
    'types named by a participle or an -ing word',
    /^(?:export )?(?:interface|type) (?!Planned|\w*(?:Setting|KeyBinding|Feed)\b)[A-Z]\w*(?:ing|ed)\b/gm,
    0,
  ],
  [
    'names of a former vocabulary (words.md)',
    /\b(?:\w*Beside|[bB]eside(?=[A-Z])\w*|refuse[A-Z]\w*|(?:find|read|plan)Kept\w*|Kept[A-Z]\w*|[bB]elongings|strangers|[tT]akePlace|[rR]ivals?|[fF]resh(?=[A-Z])\w*|FRESH_\w+|BELIEVED\w*|GOING_ON|LOOK_AGAIN_AFTER|TASKS|ProofRow|proveReferences)\b/g,
    0,
  ],
  ['casts through unknown', /\bas unknown as\b/g, 0],
];

/** A title is a subject, a verb in the present tense and a condition, or continues such a sentence of its `describe`. */
const BAD_TITLE =
  /(?:\b(?:it|test|describe)(?:\.\w+)*|[\])])\(\s*(['"`])(?:what|whose|whoever|who|whether|how|of|that|those|where|without|says|tells|asks|lets|gives|carries|by|while|leaving) .*\1,/g;

const BAD_TITLES = 0;

function textsOf(...folders: string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', ...folders], { cwd: root, encoding: 'utf8' });
  const files = listed.split('\0').filter((file) => /\.tsx?$/.test(file));
  return files.map((file) => readFileSync(`${root}${file}`, 'utf8'));
}

const texts = textsOf('src', 'hub', 'screens', 'components');

test.each(LEFT)('%s are as many as are known, and no more', (_, pattern, left) => {
  expect(texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)).toBe(left);
});

test('titles of tests that begin with another word than a subject or a verb are as many as are known', () => {
  expect(textsOf('test').flatMap((text) => text.match(BAD_TITLE) ?? [])).toHaveLength(BAD_TITLES);
});

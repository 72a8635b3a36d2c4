/**
 * What is changed in other people's packages while bundling, so that the first frame comes early. Each entry says why.
 * A `from` that no longer occurs in its `file` fails the build: look at the new version, then change or drop the entry.
 */
export const patches = [
  {
    name: 'yoga is compiled at once',
    // As published, Ink waits for promises and a fetch of a data: URL, which also loads all of undici.
    file: 'yoga-layout/dist/src/index.js',
    from: 'const Yoga = wrapAssembly(await loadYoga());',
    to: `import wasm from 'yoga.wasm';
const assembly = {
  instantiateWasm(imports, done) {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(wasm), imports);
    done(instance);
    return instance.exports;
  },
};
loadYoga(assembly);
const Yoga = wrapAssembly(assembly);`,
  },
  {
    name: "yoga's wasm is stored once",
    // The patch above brings it as bytes.
    file: 'yoga-layout/dist/binaries/yoga-wasm-base64-esm.js',
    from: /data:application\/octet-stream;base64,[\w+/=]+/,
    to: '',
  },
  {
    name: 'React DevTools are left out',
    // The condition is false in production; the await in it would make every importer asynchronous.
    file: 'ink/build/reconciler.js',
    from: "await import('./devtools.js');",
    to: '',
  },
  {
    name: 'child_process is loaded when the size of the terminal is asked of a program',
    // Which is never, as long as standard output is a terminal.
    file: 'terminal-size/index.js',
    from: "import {execFileSync} from 'node:child_process';",
    to: "const execFileSync = (...words) => process.getBuiltinModule('node:child_process').execFileSync(...words);",
  },
  {
    name: 'child_process is loaded when a subcommand is a program of its own',
    // Which none of ours is.
    file: 'commander/lib/command.js',
    from: "import childProcess from 'node:child_process';",
    to: "const childProcess = { spawn: (...words) => process.getBuiltinModule('node:child_process').spawn(...words) };",
  },
  {
    name: 'assert is loaded when an assertion fails',
    file: 'signal-exit/index.js',
    from: "var assert = require('assert')",
    to: "var assert = { equal: (a, b, words) => a === b || require('assert').equal(a, b, words) }",
  },
  {
    name: 'narrow text is measured without tables',
    file: 'string-width/index.js',
    from: 'let string = input;',
    to: 'if (ambiguousIsNarrow && isNarrow(input)) return input.length;\n$&',
  },
  {
    name: 'plain text is searched for control characters without their table',
    file: 'ink/build/sanitize-ansi.js',
    from: 'const sanitizeAnsi = (text) => {',
    to: "import { isNarrow } from 'plain-text';\n$&\n    if (isNarrow(text)) return text;",
  },
  {
    name: 'what was measured and cut up for one frame is known in the next',
    // A key changes two lines of forty; the rest would be taken apart again. Bounded, since progress never repeats itself.
    file: 'ink/build/output.js',
    from: '    caches = new OutputCaches();',
    to: '    caches = knownCaches();',
  },
  {
    name: 'where that is kept',
    file: 'ink/build/output.js',
    from: 'export default class Output {',
    to: `let known = new OutputCaches();
function knownCaches() {
  if (known.styledChars.size > 2000) known = new OutputCaches();
  return known;
}
export default class Output {`,
  },
  ...[
    'prependedConcatenationMarks',
    'visibleCharacter',
    'emojiPrefix',
    'textPresentationEmoji',
    'emojiZwjSequence',
  ].map((expression) => ({
    name: 'an expression over tables is compiled when first needed',
    file: 'string-width/index.js',
    from: new RegExp(`const ${expression}Regex = (.+);`),
    to: `const ${expression}Regex = lazyRegExp(() => $1);`,
  })),
  ...[
    'string-width/index.js',
    'wrap-ansi/index.js',
    'slice-ansi/tokenize-ansi.js',
    'ink/build/line-update.js',
    '@alcalzone/ansi-tokenize/build/tokenize.js',
  ].map((file) => ({
    name: 'a segmenter is made when first needed',
    file,
    from: /const (segmenter|GRAPHEME_SEGMENTER) = (new Intl\.Segmenter\(.*\));/,
    to: "import { isNarrow, lazyRegExp, lazySegmenter } from 'plain-text';\nconst $1 = lazySegmenter(() => $2);",
  })),
];

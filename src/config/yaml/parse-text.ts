import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';

export interface TextFlaw {
  code: string;
  message: string;
  hint: string | null;
  offset: number;
}

export interface ParsedText {
  document: Document.Parsed | null;
  flaws: TextFlaw[];
}

/** A limit; the parser's own depth is about twice that. */
export const MAX_DEPTH = 40;

/** The most tokens, and the error beyond them. */
export interface TextLimit {
  lexemes: number;
  message: string;
  hint: string;
}

/** About 6,000 targets. */
const CONFIGURATION: TextLimit = {
  lexemes: 250_000,
  message: 'longer than any configuration: what follows here was not read',
  hint: 'Split the targets into several files.',
};

/** A limit on reported errors: each of them looks at its whole line. */
export const MAX_FLAWS = 200;

const HINTS: Record<string, string> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BLOCK_AS_IMPLICIT_KEY: 'Quote a value with a colon and a space in it.',
  BAD_INDENT: 'Keys of one level begin in the same column.',
  BAD_SCALAR_START: 'Quote a value that begins with this character.',
  MULTILINE_IMPLICIT_KEY: 'Write a colon and a space behind a key: key: value.',
  TAG_RESOLVE_FAILED: 'Quote a value that begins with !.',
};

const UNCLOSED = 'Look for the one that is open in the lines before.';

export const TEMPLATE_IN_QUOTES = 'Quote a value that begins with {{: "{{`NAME` | env}}".';

/** Parses one YAML document, and stops early at a text that would exhaust the parser. */
export function parseText(text: string, limit = CONFIGURATION): ParsedText {
  const giveUp = (flaw: TextFlaw): ParsedText => ({ document: null, flaws: [flaw] });
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    lexemes += 1;
    if (parser.stack.length > 3 * MAX_DEPTH) return giveUp(tooDeep(parser.offset));
    if (lexemes > limit.lexemes) return giveUp(tooLong(limit, parser.offset));
  }
  for (const token of parser.end()) tokens.push(token);

  // The composer's own search for duplicates takes quadratic time; the reader finds them.
  const composer = new Composer({ uniqueKeys: false, logLevel: 'error' });
  const [document, second] = withoutStacks(() => {
    const [first, other] = composer.compose(tokens, true, text.length);
    return [first, other];
  });
  // The composer only warns about an unknown tag, and ignores it.
  const errors = [...(document?.errors ?? []), ...(document?.warnings ?? [])].slice(0, MAX_FLAWS);
  const flaws = errors.map(({ code, message, pos: [offset] }) => {
    const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
    const words = inPlainWords(message);
    const advice = words.endsWith('is not closed') ? UNCLOSED : (HINTS[code] ?? null);
    const hint = /:\s*\{\{/.test(before) ? TEMPLATE_IN_QUOTES : advice;
    return { code: 'yaml_syntax', message: `not valid YAML: ${words}`, hint, offset };
  });
  if (second) flaws.push(severalDocuments(second.range[0]));
  return { document: (document as Document.Parsed | undefined) ?? null, flaws };
}

/** Composing makes one Error per mistake, and their stacks would take most of the time of a hostile file. */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The parser quotes the text behind a colon, which may contain a password. */
function inPlainWords(message: string): string {
  return message
    .replace(/^The : indicator must be.*/, 'a key longer than 1024 characters')
    .replace(/:.*$/s, '')
    .replace(/^Missing closing (.)quote$/, 'a $1 is not closed')
    .replace(/^Flow sequence in block collection.*/, 'a [ is not closed')
    .replace(/^Flow map in block collection.*/, 'a { is not closed')
    .replace(/^Implicit keys need to be on a single line$/, 'a key without a colon')
    .replace(/^Nested mappings are not allowed in compact mappings$/, 'a second key on one line');
}

export function tooDeep(offset: number): TextFlaw {
  return { code: 'yaml_syntax', message: `nested deeper than ${MAX_DEPTH} levels`, hint: null, offset };
}

function tooLong({ message, hint }: TextLimit, offset: number): TextFlaw {
  return { code: 'file_too_large', message, hint, offset };
}

function severalDocuments(offset: number): TextFlaw {
  const hint = 'Remove what begins with ---.';
  return { code: 'yaml_syntax', message: 'not valid YAML: a configuration is one document', hint, offset };
}

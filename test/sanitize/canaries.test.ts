import { describe, expect, it } from 'vitest';
import { markSearch } from '../../src/sanitize/canaries/canary-marks.ts';
import { createMarkFinder, type MarkHits } from '../../src/sanitize/canaries/mark-finder.ts';

const MARKERS = { word: 'zqabcdef', digits: '12345', hex: 'a1b2' };
const UUID = 'a1b2a1b2-0000-4000-8000-00000000002a';
const ADDRESS = '2001:db8:a1b2:102a::1';
const TOKENS = new Map([
  ['zqabcdef000a', 1],
  ['1234500007', 2],
  ['1815-05-06', 3],
  [UUID, 4],
  [ADDRESS, 5],
]);

function found(...texts: (string | Buffer)[]): MarkHits {
  const finder = createMarkFinder(markSearch(MARKERS, TOKENS));
  for (const text of texts) finder.feed(Buffer.from(text), true);
  return finder.hits();
}

const ids = (...texts: (string | Buffer)[]): number[] => [...found(...texts).keys()];
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

describe('marks of canaries', () => {
  it.each<[string, number, string[]]>([
    ['a word', 1, ['zqabcdef000a', 'ZQABCDEF000A', 'x-Zqabcdef000a.test', '{"a":"zqabcdef000a\\/"}']],
    [
      'a number',
      2,
      [
        '1234500007',
        '+491234500007',
        '+49 1234 500 007',
        '(1234) 500-007',
        '12/345.00007',
        '+49 (0)12-34-50-00-07',
        '1 2 3 4 5 0 0 0 0 7',
      ],
    ],
    [
      'a date',
      3,
      [
        ...['1815-05-06', '1815-05-06T00:00:00Z', '1815/05/06', '1815.5.6', '06.05.1815', '6.5.1815', '05/06/1815'],
        ...['06\\/05\\/1815', '6 May 1815', '06-MAY-1815', 'May 6th, 1815', 'Sat, 06 May 1815 00:00:00 GMT'],
        ...['18150506', '06051815', String(Date.parse('1815-05-06') / 1000), String(Date.parse('1815-05-06'))],
      ],
    ],
    ['a UUID', 4, [UUID, UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`]],
    ['an address', 5, [ADDRESS, ADDRESS.toUpperCase(), `[${ADDRESS}]:80`, `${ADDRESS}/128`]],
  ])('%s is found in other forms, with its column', (_, id, texts) => {
    for (const text of texts) expect(ids(`x ${text} y`), text).toEqual([id]);
    for (const text of texts) expect(ids(text), text).toEqual([id]);
  });

  it.each<[string, (string | Buffer)[]]>([
    ['reversed', ['a000fedcbaqz', '7000054321']],
    [
      'hexadecimal',
      ['zqabcdef000a', 'ZQABCDEF000A', '1234500007', UUID].map((text) => Buffer.from(text).toString('hex')),
    ],
    [
      'base64',
      ['zqabcdef000a', 'Zqabcdef000a', 'ab1234500007', UUID, Buffer.from(UUID.replaceAll('-', ''), 'hex')].map(base64),
    ],
    [
      'base64 with line ends',
      [base64('zqabcdef000a').replace(/(.{5})/, '$1\n'), base64('zqabcdef000a').replace(/(.{5})/, '$1\\n')],
    ],
    ['UTF-16', [Buffer.from('zqabcdef000a', 'utf16le'), Buffer.from('ZQABCDEF000A', 'utf16le')]],
    [
      'another form of an address',
      ['2001:0db8:a1b2:102a:0000:0000:0000:0001', '20010db8a1b2102a0000000000000001', '2001%3Adb8%3Aa1b2%3A102a'],
    ],
    ['a part', ['zqabcdef', 'zqabcdef9']],
  ])('%s is found without its column', (_, texts) => {
    for (const text of texts) expect(ids(text), String(text)).toEqual([-1]);
  });

  it('bytes of a UUID are found', () => {
    const bytes = Buffer.from(UUID.replaceAll('-', ''), 'hex');
    expect([...found(Buffer.concat([Buffer.from('\x01'), bytes])).keys()]).toEqual([-1]);
  });

  it('are none in values that look alike', () => {
    for (const text of ['1234500008', '12345 00008', '1815-05-07', '18150507', '1816/05/06', '8 May 1815']) {
      expect(ids(text), text).toEqual([]);
    }
    // Ids of eight digits are no dates.
    expect(ids('18150506', '18150507')).toEqual([]);
    expect(ids('1815050', '181505061', '2024-01-01 12:30:45 +00')).toEqual([]);
  });

  it('are searched in a time that grows with the text only', () => {
    const started = performance.now();
    for (const part of ['may', 'jan1', '1815', '18', '1', '1 ', '12345 ', '1-1-', '5 may ', 'mayyyyyyyy ']) {
      expect(ids(`1815 ${part.repeat(200_000 / part.length)}`), part).toEqual([]);
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('are counted, also over the pieces of a value', () => {
    const finder = createMarkFinder(markSearch(MARKERS, TOKENS));
    finder.feed(Buffer.from('x +49 1234 5'), true);
    finder.feed(Buffer.from('00 007, 06.05.'), false);
    finder.feed(Buffer.from('1815, zqabc'), false);
    finder.feed(Buffer.from('def000a'), false);
    expect(finder.hits()).toEqual(
      new Map([
        [2, 1],
        [3, 1],
        [1, 1],
      ]),
    );
    expect(found('06.05.1815', '6.5.1815').get(3)).toBe(2);
  });
});

/** The meaning of a text, from which each skin derives its look. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'caution' | 'bad';

/** Original data, or sanitized. */
export type DataKind = 'RAW' | 'SAFE';

export interface Glyphs {
  pointer: string;
  ellipsis: string;
  rule: string;
  side: string;
  corners: { topLeft: string; topRight: string; bottomLeft: string; bottomRight: string };
  /** Ends of a rule that meets others, named after the sides to which it goes on. */
  junctions: { down: string; up: string; right: string; left: string; cross: string };
  /** Lines that differ from a rule. */
  heavy: string;
  broken: string;
  /** Heads of arrows. */
  toLeft: string;
  toRight: string;
  /** Part of a circle. */
  loop: string;
  /** The selected row of a list to which no keys go. */
  selected: string;
  dot: string;
  arrow: string;
  none: string;
  /** A value of the line above that did not change. */
  same: string;
  /** More columns at the left, at the right. */
  less: string;
  more: string;
  barFull: string;
  /** Between the two. */
  barHalf: string;
  barEmpty: string;
  /** Bars of a sparkline, from the lowest. */
  levels: string;
  /** Frames of the mark of a run in progress. */
  spinner: string;
  /** Marks of states, for terminals without colour. */
  good: string;
  bad: string;
  caution: string;
  pending: string;
  running: string;
  marked: string;
  skipped: string;
}

export const UNICODE: Glyphs = {
  pointer: '❯',
  ellipsis: '…',
  rule: '─',
  side: '│',
  corners: { topLeft: '╭', topRight: '╮', bottomLeft: '╰', bottomRight: '╯' },
  junctions: { down: '┬', up: '┴', right: '├', left: '┤', cross: '┼' },
  heavy: '━',
  broken: '┄',
  toLeft: '◂',
  toRight: '▸',
  loop: '↺',
  selected: '›',
  dot: '·',
  arrow: '→',
  none: '–',
  same: '·',
  less: '‹',
  more: '›',
  barFull: '█',
  barHalf: '▓',
  barEmpty: '░',
  levels: '▁▂▃▄▅▆▇█',
  spinner: '⠋⠙⠹⠸⠼⠴⠦⠧',
  good: '✓',
  bad: '✗',
  caution: '!',
  pending: '○',
  running: '●',
  marked: '●',
  skipped: '–',
};

export const ASCII: Glyphs = {
  pointer: '>',
  ellipsis: '~',
  rule: '-',
  side: '|',
  corners: { topLeft: '+', topRight: '+', bottomLeft: '+', bottomRight: '+' },
  junctions: { down: '+', up: '+', right: '+', left: '+', cross: '+' },
  heavy: '=',
  broken: '.',
  toLeft: '<',
  toRight: '>',
  loop: '@',
  selected: '-',
  dot: '|',
  arrow: '->',
  none: '-',
  same: '.',
  less: '<',
  more: '>',
  barFull: '#',
  barHalf: '=',
  barEmpty: '.',
  levels: '_.-=+*#',
  spinner: '|/-\\',
  good: '+',
  bad: 'x',
  caution: '!',
  pending: 'o',
  running: '*',
  marked: '*',
  skipped: '-',
};

/** For screen readers: words for states, nothing for decoration. */
export const SPOKEN: Glyphs = {
  pointer: '>',
  ellipsis: '...',
  rule: '',
  side: '',
  corners: { topLeft: '', topRight: '', bottomLeft: '', bottomRight: '' },
  junctions: { down: '', up: '', right: '', left: '', cross: '' },
  heavy: '',
  broken: '',
  toLeft: '',
  toRight: '',
  loop: 'circular',
  selected: '',
  dot: ',',
  arrow: 'to',
  none: 'none',
  same: '',
  less: '',
  more: '',
  barFull: '',
  barHalf: '',
  barEmpty: '',
  levels: '',
  spinner: '',
  good: 'good:',
  bad: 'bad:',
  caution: 'caution:',
  pending: 'waiting:',
  running: 'running:',
  marked: 'marked:',
  skipped: 'skipped:',
};

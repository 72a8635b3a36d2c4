import { Box, Text } from 'ink';
import SelectInput from 'ink-select-input';
import { printable } from '../src/text/printable.ts';
import { useTheme } from './theme.ts';

export interface ChoiceOption<Value extends string> {
  label: string;
  value: Value;
  /** Replaces or removes something: the button is red. */
  danger?: boolean;
}

export interface ChoiceProps<Value extends string> {
  /** The safe answer first: it has the focus. */
  options: ChoiceOption<Value>[];
  onSelect: (value: Value) => void;
  initial?: Value;
  limit?: number;
}

export function Choice<Value extends string>({ options, onSelect, initial, limit }: ChoiceProps<Value>) {
  const first = options.findIndex(({ value }) => value === initial);
  return (
    <SelectInput
      items={options}
      initialIndex={Math.max(0, first)}
      {...(limit === undefined ? {} : { limit })}
      indicatorComponent={Indicator}
      itemComponent={Option}
      onSelect={({ value }) => onSelect(value)}
    />
  );
}

function Indicator({ isSelected = false }: { isSelected?: boolean }) {
  const { glyphs, tones } = useTheme();
  return (
    // Keeps its width beside a long answer, so that the answers stay aligned.
    <Box flexShrink={0}>
      <Text {...tones.accent}>{isSelected ? `  ${glyphs.pointer} ` : '    '}</Text>
    </Box>
  );
}

function Option({ isSelected = false, label, danger = false }: OptionProps) {
  const { tones, surfaces } = useTheme();
  const style = isSelected ? surfaces[danger ? 'danger' : 'button'].base : danger ? tones.bad : {};
  return (
    <Text bold={isSelected} {...style} wrap="truncate">
      {printable(label)}
    </Text>
  );
}

interface OptionProps {
  isSelected?: boolean;
  label: string;
  danger?: boolean;
}

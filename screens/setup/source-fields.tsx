import { Line, type Span } from '../../components/line.tsx';
import { textEdit } from '../../components/text-edit.ts';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { partsOf } from '../../src/config/urls/raw-parts.ts';
import { fitCells } from '../../src/text/text-width.ts';
import { typedSecret, typedUrlEdit } from '../app/frame/hidden-text.ts';
import type { SetupRoute } from './setup-route.ts';
import { fieldPlaceholder, fieldText } from './source-form.ts';
import { SOURCE_FIELDS, type SourceField } from './step.ts';
import { FIELD_LABELS, TYPE_HINT, URL_EXAMPLE } from './steps-text.ts';

/** The URL and its parts; those around the one that receives the keys where room is short. */
export function SourceFields({ route, room, width }: { route: SetupRoute; room: number; width: number }) {
  const { field, parts } = route.form;
  const at = SOURCE_FIELDS.indexOf(field);
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), SOURCE_FIELDS.length - room));
  const isUrl = partsOf(route.answers.url?.trim() ?? '') !== null;
  return SOURCE_FIELDS.slice(first, first + Math.max(1, room)).map((each) => {
    const label = fitCells(FIELD_LABELS[each], LABEL_WIDTH);
    const placeholder = each === 'url' ? URL_EXAMPLE : fieldPlaceholder(route, each);
    if (each !== field || each === 'scheme') {
      const text = shownText(each, fieldText(route, each));
      const isDefault = !isUrl && each === 'host' && text === parts.host;
      return <Field key={each} {...{ label, text, placeholder, isDefault, width }} isActive={each === field} />;
    }
    const typing = route.typing ?? { text: '', cursor: 0 };
    const edit = each === 'url' ? typedUrlEdit(typing) : { ...typing, text: shownText(each, typing.text) };
    return <TextField key={each} {...{ label, edit, placeholder, width }} />;
  });
}

/** Cells of the longest label. */
const LABEL_WIDTH = 9;

export function shownText(field: SourceField, text: string): string {
  if (field === 'url') return typedUrlEdit(textEdit(text)).text;
  // What follows the colon is a password as long as the @ is not typed.
  const isPort = /^\d*$/.test(text) || text.includes('{{');
  return field === 'password' || (field === 'port' && !isPort) ? typedSecret(text) : text;
}

interface FieldProps {
  label: string;
  text: string;
  placeholder: string;
  isDefault: boolean;
  isActive: boolean;
  width: number;
}

function Field({ label, text, placeholder, isDefault, isActive, width }: FieldProps) {
  const { glyphs } = useTheme();
  const value: Span = text === '' ? { text: placeholder, tone: 'dim' } : { text, tone: isDefault ? 'dim' : 'plain' };
  const spans: Span[] = isActive
    ? [
        { text: `${label} `, tone: 'accent' },
        { ...value, tone: 'strong' },
        { text: `  ${glyphs.none} ${TYPE_HINT}`, tone: 'dim' },
      ]
    : [{ text: `${label} `, tone: 'dim' }, value];
  return <Line spans={spans} width={width} />;
}

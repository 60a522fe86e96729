import {
  Anchor,
  Button,
  type CSSVariablesResolver,
  createTheme,
  Input,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
  type ModalProps,
  type SegmentedControlProps,
  Tooltip,
} from '@mantine/core'
import { CheckedInput } from './CheckedInput'

const blue: MantineColorsTuple = [
  '#e8f1f9',
  '#cfe2f3',
  '#a5c9e8',
  '#7db4e2',
  '#6cb0ee',
  '#3f87c4',
  '#2872b1',
  '#1c5f9e',
  '#164e83',
  '#0f3b66',
]

/** Mantine draws dark surfaces from these; ours lean to blue like the rest of the page. */
const dark: MantineColorsTuple = [
  '#d3d8df',
  '#b0b7c1',
  '#8f98a4',
  '#656e7b',
  '#434b58',
  '#2c333e',
  '#1a1f27',
  '#101318',
  '#171b22',
  '#080a0d',
]

/** Keeps the chosen theme in this browser. */
export const schemeManager = localStorageColorSchemeManager({ key: 'sinemora-theme' })

export const theme = createTheme({
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Roboto Mono', 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  headings: { fontWeight: '620' },
  colors: { blue, dark },
  primaryColor: 'blue',
  primaryShade: { light: 7, dark: 4 },
  defaultRadius: 4,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: 'hover' } }),
    Button: Button.extend({
      defaultProps: { size: 'xs' },
      // The accent and red are light on a dark page, where Mantine's choice of white would not be readable.
      vars: (_, { variant = 'filled', color }) => ({
        root:
          variant === 'filled' && (!color || color === 'red')
            ? {
                '--button-color': 'light-dark(#ffffff, #0b1017)',
                ...(color ? { '--button-bg': 'var(--bad)', '--button-hover': 'var(--bad)' } : {}),
              }
            : {},
      }),
    }),
    Input: Input.extend({ defaultProps: { size: 'sm' } }),
    InputWrapper: Input.Wrapper.extend({
      defaultProps: {
        // A description below its field, so that the fields of a row are in line.
        inputWrapperOrder: ['label', 'input', 'description', 'error'],
        inputContainer: (input) => <CheckedInput>{input}</CheckedInput>,
      },
    }),
    // Where a control is wider than the page, it scrolls inside itself.
    SegmentedControl: {
      defaultProps: { size: 'xs', withItemsBorders: false } satisfies Partial<SegmentedControlProps>,
      styles: { root: { maxWidth: '100%', overflowX: 'auto' } },
    },
    // Not by their names, like the others: they would come with the first page, which has none.
    Modal: { defaultProps: { centered: true, transitionProps: { duration: 0 } } satisfies Partial<ModalProps> },
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 250, transitionProps: { duration: 0 } } }),
  },
})

/** Mantine's own surfaces take the page's colours, so that there is one set of them. */
export const variables: CSSVariablesResolver = () => ({
  variables: {
    '--mantine-color-body': 'var(--page)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-dimmed': 'var(--ink-3)',
    '--mantine-color-default': 'var(--raised)',
    '--mantine-color-default-border': 'var(--line-strong)',
    '--mantine-color-anchor': 'var(--accent)',
    '--mantine-color-error': 'var(--bad)',
    '--mantine-color-placeholder': 'var(--ink-3)',
  },
  light: {},
  dark: {},
})

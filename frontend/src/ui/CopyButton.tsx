import { Button, type ButtonProps } from '@mantine/core'
import { CheckIcon, CopyIcon } from './icons'
import { strings } from './strings'
import { useCopy } from './useCopy'

interface Props extends ButtonProps {
  /** Called when the button is pressed. */
  text: () => string
  children?: string
}

/** A button that copies text and says so. */
export function CopyButton({ text, children = strings.copy, ...button }: Props) {
  const { copied, copy } = useCopy()
  return (
    <Button
      variant="default"
      {...button}
      onClick={() => void copy(text())}
      leftSection={copied ? <CheckIcon /> : <CopyIcon />}
    >
      <span aria-live="polite">{copied ? strings.copied : children}</span>
    </Button>
  )
}

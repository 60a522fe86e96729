import { Button } from '@mantine/core'
import { type ComponentProps, useState } from 'react'
import { words } from '~/lib/words'
import { Confirm } from './Confirm'

interface Props extends Pick<ComponentProps<typeof Confirm>, 'doing' | 'onDone' | 'children'> {
  name: string
  id: string
}

/** The button that deletes an object, once its effect is confirmed. */
export function DeleteButton({ name, id, ...props }: Props) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {words.deleteEllipsis}
      </Button>
      <Confirm
        {...props}
        title={words.deleteName(name)}
        action={words.delete}
        about={asking ? id : null}
        onClose={() => setAsking(false)}
      />
    </>
  )
}

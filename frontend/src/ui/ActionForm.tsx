import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import styles from './page.module.css'
import { ActionError } from './State'

interface Props {
  /** Gets the values of the fields, and the form to reset. */
  onSubmit: (form: FormData, element: HTMLFormElement) => void
  /** The request that it sends. */
  doing: { isPending: boolean; error: unknown }
  /** Words of its button, a verb. */
  action: string
  /** See `useMissing`. */
  onAttempt?: () => void
  children: ReactNode
}

/** Fields in a row, the button that sends them, and why a request failed. */
export function ActionForm({ onSubmit, doing, action, onAttempt, children }: Props) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    onSubmit(new FormData(event.currentTarget), event.currentTarget)
  }

  return (
    <>
      <form className={styles.form} onSubmit={submit}>
        {children}
        <Button type="submit" size="sm" loading={doing.isPending} {...(onAttempt && { onClick: onAttempt })}>
          {action}
        </Button>
      </form>
      <ActionError error={doing.error} />
    </>
  )
}

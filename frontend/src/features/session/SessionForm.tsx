import { type FormEvent, type ReactNode, useId } from 'react'
import { centredStyles } from '~/ui/CentredPage'
import { Mark } from '~/ui/Logo'

interface Props {
  title: string
  children: ReactNode
  /** Receives the value of a field by its name. */
  onSubmit: (value: (name: string) => string) => void
}

/** A form in the middle of a page outside the shell. */
export function SessionForm({ title, children, onSubmit }: Props) {
  const heading = useId()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    onSubmit((name) => String(form.get(name) ?? ''))
  }

  return (
    <form className={centredStyles.form} onSubmit={submit} aria-labelledby={heading}>
      <Mark size={36} />
      <h1 id={heading}>{title}</h1>
      {children}
    </form>
  )
}

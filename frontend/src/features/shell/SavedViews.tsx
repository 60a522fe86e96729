import { ActionIcon, Button, Group, Popover, TextInput, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useRouter } from '@tanstack/react-router'
import { type FormEvent, type MouseEvent, useRef, useState } from 'react'
import { useEdits } from '~/api/access'
import { type SavedView, savedViewsQuery, useDeleteView, useSaveView } from '~/api/savedViews'
import { longest } from '~/ui/CheckedInput'
import { StarIcon } from '~/ui/icons'
import { lazyDialog } from '~/ui/lazyDialog'
import { ActionError, Failed } from '~/ui/State'
import { useEmbedTarget } from './embed/embedView'
import styles from './shell.module.css'
import { strings } from './strings'

const EmbedDialog = lazyDialog(async () => (await import('./embed/EmbedDialog')).EmbedDialog)

/** The saved views, a form that saves the open page, and a link to it for readers without an account. */
export function SavedViews() {
  const [opened, setOpened] = useState(false)
  const [isEmbedding, setEmbedding] = useState(false)
  const target = useEmbedTarget()
  const edits = useEdits()
  const star = useRef<HTMLButtonElement>(null)

  function closeEmbedding() {
    setEmbedding(false)
    // The button that opened the dialog went with its popover.
    star.current?.focus()
  }

  return (
    <>
      <Popover opened={opened} onChange={setOpened} position="bottom-end" trapFocus returnFocus shadow="md" width={320}>
        <Popover.Target>
          <Tooltip label={strings.savedViews} disabled={opened}>
            <ActionIcon
              ref={star}
              variant="subtle"
              color="gray"
              c="var(--ink-2)"
              size={28}
              aria-label={strings.savedViews}
              onClick={() => setOpened(!opened)}
            >
              <StarIcon />
            </ActionIcon>
          </Tooltip>
        </Popover.Target>
        <Popover.Dropdown>
          <SaveForm />
          <Views onDone={() => setOpened(false)} />
          {target && edits && (
            <div className={styles.share}>
              <Button
                variant="default"
                onClick={() => {
                  setOpened(false)
                  setEmbedding(true)
                }}
              >
                {strings.embed}
              </Button>
              <p className={styles.hint}>{strings.embedHint}</p>
            </div>
          )}
        </Popover.Dropdown>
      </Popover>
      {target && <EmbedDialog target={target} opened={isEmbedding} onClose={closeEmbedding} />}
    </>
  )
}

function SaveForm() {
  const address = useLocation({ select: ({ href }) => href })
  const save = useSaveView()
  const [name, setName] = useState('')

  function submit(event: FormEvent) {
    event.preventDefault()
    const trimmed = name.trim()
    if (trimmed) save.mutate({ name: trimmed, address }, { onSuccess: () => setName('') })
  }

  return (
    <form onSubmit={submit}>
      <TextInput
        size="xs"
        label={strings.nameOfView}
        value={name}
        {...longest(100)}
        required
        onChange={({ currentTarget: { value } }) => setName(value)}
      />
      <p className={styles.hint}>{strings.viewHint}</p>
      <ActionError error={save.error} />
      <Button type="submit" size="xs" loading={save.isPending}>
        {strings.saveView}
      </Button>
    </form>
  )
}

function Views({ onDone }: { onDone: () => void }) {
  const views = useQuery(savedViewsQuery)
  const remove = useDeleteView()
  if (views.error && !views.data) {
    return <Failed what={strings.savedViews} error={views.error} retry={() => void views.refetch()} />
  }
  if (!views.data?.length) return null
  return (
    <>
      <ActionError error={remove.error} />
      <ul className={styles.views} aria-label={strings.savedViews}>
        {views.data.map((view) => (
          <ViewLine key={view.id} view={view} onOpen={onDone} onDelete={() => remove.mutate(view.id)} />
        ))}
      </ul>
    </>
  )
}

function ViewLine({ view, onOpen, onDelete }: { view: SavedView; onOpen: () => void; onDelete: () => void }) {
  const { history } = useRouter()

  function open(event: MouseEvent) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    // As it was saved: without the time of the open page, which links take along.
    history.push(view.address)
    onOpen()
  }

  return (
    <li>
      <Group justify="space-between" wrap="nowrap">
        <a href={view.address} onClick={open} title={strings.savedBy(view.created_by)}>
          {view.name}
        </a>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-label={strings.deleteView(view.name)}
          onClick={onDelete}
        >
          {strings.delete}
        </Button>
      </Group>
    </li>
  )
}

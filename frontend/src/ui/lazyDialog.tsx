import { type ComponentType, createElement, lazy, Suspense, useEffect, useState } from 'react'

/**
 * A dialog whose code loads when it opens first, and the function that loads it sooner.
 *
 * It is mounted closed and opened then: a dialog notes as it opens what had the focus, to give it back when it closes.
 */
export function lazyDialog<Props extends { opened: boolean }>(load: () => Promise<ComponentType<Props>>) {
  const Loaded = lazy(async () => {
    const Content = await load()
    return {
      default: function OpenedOnceMounted(props: Props) {
        const [isMounted, setMounted] = useState(false)
        useEffect(() => setMounted(true), [])
        return createElement(Content, { ...props, opened: isMounted && props.opened })
      },
    }
  }) as unknown as ComponentType<Props>

  function LazyDialog(props: Props) {
    const [wasOpened, setWasOpened] = useState(props.opened)
    if (props.opened && !wasOpened) setWasOpened(true)
    return wasOpened ? <Suspense fallback={null}>{createElement(Loaded, props)}</Suspense> : null
  }
  return LazyDialog
}

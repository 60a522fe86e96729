/** Everything that a test of a component needs, in one import. */

export { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
export { default as userEvent } from '@testing-library/user-event'
export * from './actions'
export * from './api'
export { recorded, recordedItem } from './recorded'
export { show, showPage, visit, visitSearch } from './render'

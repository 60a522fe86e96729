export { fill } from './actions'

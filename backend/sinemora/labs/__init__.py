"""Laboratories next to the product, which imports none of them: `sinemora.compose` lists them."""

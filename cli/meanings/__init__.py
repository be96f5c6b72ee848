"""The meanings of codes and words, and what to do about them."""

"""What codes and words mean, and what to do about them."""

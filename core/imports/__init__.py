"""What is imported sooner, or more safely, than the module that it stands for."""
